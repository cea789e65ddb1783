package dev.holdfast.spring;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.testcontainers.containers.Container;

/**
 * Redis or Valkey containers with {@code @ServiceConnection} as the nodes. Boot asks one factory
 * for the details of each container, and registers those of the first container alone. So the
 * details of each container return the nodes of all.
 */
final class RedisContainerDetailsFactory
    extends ContainerConnectionDetailsFactory<Container<?>, HoldfastConnectionDetails> {
  private final List<Details> all = new CopyOnWriteArrayList<>();

  RedisContainerDetailsFactory() {
    super(RedisImages.NAMES);
  }

  @Override
  protected HoldfastConnectionDetails getContainerConnectionDetails(
      ContainerConnectionSource<Container<?>> source) {
    Details details = new Details(source, all);
    all.add(details);
    return details;
  }

  private static final class Details extends ContainerConnectionDetails<Container<?>>
      implements HoldfastConnectionDetails {
    private final List<Details> all;
    private volatile boolean isInitialized;

    Details(ContainerConnectionSource<Container<?>> source, List<Details> all) {
      super(source);
      this.all = all;
    }

    @Override
    public void afterPropertiesSet() throws Exception {
      super.afterPropertiesSet();
      isInitialized = true;
    }

    @Override
    public List<HoldfastNode> getNodes() {
      Map<Container<?>, HoldfastNode> nodes = new LinkedHashMap<>();
      for (Details each : all) {
        Container<?> container = each.startedContainer();
        nodes.computeIfAbsent(container, each::node);
      }
      return List.copyOf(nodes.values());
    }

    /** Returns the container, also of details that are no bean. */
    private Container<?> startedContainer() {
      try {
        if (!isInitialized) {
          afterPropertiesSet();
        }
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException("a container with @ServiceConnection was not found", e);
      }
      return getContainer();
    }

    private HoldfastNode node(Container<?> container) {
      HoldfastNode node =
          HoldfastNode.of(container.getHost(), container.getMappedPort(RedisImages.PORT));
      SslBundle bundle = getSslBundle();
      return bundle == null ? node : node.tls(bundle);
    }

    @Override
    public boolean isEphemeral() {
      return true;
    }
  }
}
