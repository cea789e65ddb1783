package dev.holdfast.spring;

import dev.holdfast.testnodes.TestNode;
import org.testcontainers.containers.GenericContainer;

/** A fake container, which needs no Docker engine and leads to a server that runs. */
final class FakeRedisContainer extends GenericContainer<FakeRedisContainer> {
  private final TestNode node;
  private volatile boolean running;

  FakeRedisContainer(TestNode node) {
    super("redis:8");
    this.node = node;
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    running = false;
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public String getHost() {
    requireStarted();
    return node.host();
  }

  @Override
  public Integer getMappedPort(int port) {
    requireStarted();
    return node.port();
  }

  private void requireStarted() {
    if (!running) {
      throw new IllegalStateException("the container was not started");
    }
  }
}
