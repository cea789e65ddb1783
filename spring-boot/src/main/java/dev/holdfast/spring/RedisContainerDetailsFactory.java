package dev.holdfast.spring;

import java.util.List;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.testcontainers.containers.Container;

/** A Redis or Valkey container with {@code @ServiceConnection} as the only node. */
final class RedisContainerDetailsFactory
    extends ContainerConnectionDetailsFactory<Container<?>, HoldfastConnectionDetails> {
  RedisContainerDetailsFactory() {
    super(RedisImages.NAMES);
  }

  @Override
  protected HoldfastConnectionDetails getContainerConnectionDetails(
      ContainerConnectionSource<Container<?>> source) {
    return new Details(source);
  }

  private static final class Details extends ContainerConnectionDetails<Container<?>>
      implements HoldfastConnectionDetails {
    Details(ContainerConnectionSource<Container<?>> source) {
      super(source);
    }

    @Override
    public List<HoldfastNode> getNodes() {
      Container<?> container = getContainer();
      HoldfastNode node =
          HoldfastNode.of(container.getHost(), container.getMappedPort(RedisImages.PORT));
      SslBundle bundle = getSslBundle();
      return List.of(bundle == null ? node : node.tls(bundle));
    }

    @Override
    public boolean isEphemeral() {
      return true;
    }
  }
}
