package dev.holdfast.drivertests;

import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** One server for all tests of a class, and a driver over it for each test. */
public abstract class OneServerContract {
  private static TestNodes servers;

  /** The only one. */
  protected final TestNode server;

  /** Not connected yet. */
  protected final Driver driver;

  /**
   * For each test a driver is made.
   *
   * @param drivers make one over the servers with these addresses
   */
  protected OneServerContract(Function<List<String>, Driver> drivers) {
    server = servers.node(0);
    driver = drivers.apply(servers.uris());
  }

  @BeforeAll
  static void start() {
    servers = TestNodes.start(1);
  }

  @AfterEach
  void close() {
    driver.close();
  }

  @AfterAll
  static void stop() {
    servers.close();
  }
}
