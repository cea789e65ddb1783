package dev.holdfast.drivertests;

import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Starts one server for all tests of a class, and closes the driver of each test. */
public final class OneServer implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {
  private @Nullable TestNodes servers;
  private @Nullable Driver driver;

  @Override
  public void beforeAll(ExtensionContext context) {
    servers = TestNodes.start(1);
  }

  /** Returns the server, which is the only one. */
  public TestNode node() {
    return Objects.requireNonNull(servers).node(0);
  }

  /**
   * Makes the driver of a test, which is not connected yet.
   *
   * @param drivers makes one over the servers with these addresses
   */
  public Driver open(Function<List<String>, Driver> drivers) {
    Driver made = drivers.apply(Objects.requireNonNull(servers).uris());
    driver = made;
    return made;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Objects.requireNonNull(driver).close();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    Objects.requireNonNull(servers).close();
  }
}
