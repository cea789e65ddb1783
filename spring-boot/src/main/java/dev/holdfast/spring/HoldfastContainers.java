package dev.holdfast.spring;

import java.util.List;
import java.util.stream.IntStream;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.lifecycle.Startable;
import org.testcontainers.lifecycle.Startables;

/**
 * Several Redis or Valkey containers of Testcontainers as the nodes of the lock manager. Declared
 * as one bean of a test's configuration, without {@code @ServiceConnection}. The containers start
 * with the application and stop with it, and vote at once although they are new.
 *
 * <pre>{@code
 * @Bean
 * HoldfastContainers lockServers() {
 *   return HoldfastContainers.of("redis:8", 3);
 * }
 * }</pre>
 */
public final class HoldfastContainers implements HoldfastConnectionDetails, Startable {
  private final List<GenericContainer<?>> containers;

  private HoldfastContainers(List<GenericContainer<?>> containers) {
    this.containers = List.copyOf(containers);
  }

  /**
   * Makes containers, and starts none of them yet.
   *
   * @param image an image with a Redis or Valkey server on port 6379
   * @param count 1 to 31
   * @return the containers
   */
  public static HoldfastContainers of(String image, int count) {
    return new HoldfastContainers(
        IntStream.range(0, count)
            .<GenericContainer<?>>mapToObj(
                i -> new GenericContainer<>(image).withExposedPorts(RedisImages.PORT))
            .toList());
  }

  /**
   * Takes containers, and starts none of them yet.
   *
   * @param containers containers that expose port 6379, each with a server of its own
   * @return the containers
   */
  public static HoldfastContainers of(GenericContainer<?>... containers) {
    return new HoldfastContainers(List.of(containers));
  }

  /**
   * Starts the containers at the same time, and waits for them for as long as each of them says.
   */
  @Override
  public void start() {
    Startables.deepStart(containers).join();
  }

  @Override
  public void stop() {
    containers.forEach(GenericContainer::stop);
  }

  /** Starts the containers if they do not run, and returns their addresses. */
  @Override
  public List<HoldfastNode> getNodes() {
    start();
    return containers.stream()
        .map(each -> HoldfastNode.of(each.getHost(), each.getMappedPort(RedisImages.PORT)))
        .toList();
  }

  List<GenericContainer<?>> containers() {
    return containers;
  }

  @Override
  public boolean isEphemeral() {
    return true;
  }
}
