package dev.holdfast.drivertests;

import static dev.holdfast.testsupport.Eventually.soon;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.spi.Subscription;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Subscriptions of a driver, with its own clients and with those of a user. */
public abstract class ListeningContract {
  /** The number of names of 1 KiB that exceeds all buffers of a connection. */
  private static final int MANY = 20_000;

  private static final String ALWAYS = "always";

  private static TestNodes servers;

  private final TestNode server;
  private final Function<List<String>, Driver> drivers;
  private final Driver driver;
  private final List<String> received = new CopyOnWriteArrayList<>();
  private final AtomicInteger ends = new AtomicInteger();

  /**
   * For each test a driver is made.
   *
   * @param drivers make one over the servers with these addresses
   */
  protected ListeningContract(Function<List<String>, Driver> drivers) {
    this.server = servers.node(0);
    this.drivers = drivers;
    this.driver = drivers.apply(servers.uris());
  }

  @BeforeAll
  static void start() {
    servers = TestNodes.start(1);
  }

  @AfterEach
  void close() {
    server.thaw();
    server.command("ACL", "SETUSER", "default", "allcommands");
    driver.close();
    soon().until(() -> listeners() == 0);
  }

  @AfterAll
  static void stop() {
    servers.close();
  }

  @Test
  void messagesOnSubscribedChannelsAreReceived() {
    Subscription subscription = open();
    subscription.subscribe("a");
    subscription.subscribe("b");
    soon().until(() -> hears("a") == 1 && hears("b") == 1);
    subscription.unsubscribe("a");
    soon().until(() -> hears("a") == 0);
    server.command("PUBLISH", "a", "1");
    server.command("PUBLISH", "b", "2");

    soon().until(() -> received.equals(List.of("b=2")));
    subscription.close();
  }

  @Test
  void idleSubscriptionNoticesTheEndOfItsConnection() {
    Subscription subscription = open();
    soon().until(() -> listeners() == 1);
    subscription.subscribe("a");
    soon().until(() -> hears("a") == 1);
    subscription.unsubscribe("a");
    soon().until(() -> hears("a") == 0);
    server.command("PUBLISH", ALWAYS, "1");

    soon().until(() -> received.equals(List.of(ALWAYS + "=1")));
    assertThat(listeners()).isEqualTo(1);
    subscription.close();
  }

  @Test
  void resubscribedChannelReceivesMessages() {
    Subscription subscription = open();
    for (int time = 0; time < 100; time++) {
      subscription.subscribe("a");
      subscription.unsubscribe("a");
    }
    subscription.subscribe("a");
    subscription.subscribe("last"); // a node hears "a" between two of the calls above, too
    soon().until(() -> hears("last") == 1);
    server.command("PUBLISH", "a", "1");

    soon().until(() -> received.equals(List.of("a=1")));
    subscription.close();
  }

  @Test
  void endOfAConnectionIsReportedOnce() {
    subscribeTo("a");
    server.command("CLIENT", "KILL", "TYPE", "pubsub");

    soon().until(() -> ends.get() == 1);
    soon().during(Duration.ofMillis(300)).until(() -> ends.get() == 1 && listeners() == 0);
  }

  @Test
  void aConnectionThatWasNotMadeHasEnded() {
    server.kill();
    open().subscribe("a");
    soon().until(() -> ends.get() == 1);
    server.restart();
  }

  @Test
  void requestedEndIsNotReported() {
    Subscription subscription = subscribeTo("a");
    subscription.close();
    subscription.subscribe("b");
    subscription.unsubscribe("a");

    soon().until(() -> listeners() == 0);
    soon().during(Duration.ofMillis(300)).until(() -> ends.get() == 0 && listeners() == 0);
  }

  @Test
  void closingLeavesNoConnectionThatWasJustBegun() throws Exception {
    long before = Connections.to(server);
    for (int time = 0; time < 20; time++) {
      try (Driver brief = drivers.apply(servers.uris())) {
        brief.connect(0);
        Subscription subscription = new Subscription(ALWAYS, (channel, said) -> {});
        brief.nodes().subscribe(0, subscription);
        subscription.subscribe("a");
        subscription.close();
      }
    }
    soon()
        .untilAsserted(
            () -> {
              assertThat(listeners()).isZero();
              assertThat(String.valueOf(server.command("CLIENT", "LIST")).lines())
                  .hasSizeLessThanOrEqualTo((int) before + 1);
            });
  }

  @Test
  void refusedSubscriptionSendsNothingMoreAndEndsNothing() {
    server.command("ACL", "SETUSER", "default", "-subscribe");
    server.command("ACL", "LOG", "RESET");
    Subscription subscription = open();
    soon().until(() -> refusals() == 1);
    String refused = lastRefused();
    soon().until(() -> !String.valueOf(server.command("CLIENT", "LIST")).contains(refused));
    subscription.subscribe("b");
    subscription.subscribe("c");

    soon().during(Duration.ofMillis(300)).until(() -> ends.get() == 0 && refusals() == 1);
  }

  @Test
  void hangingNodeDelaysNoOtherNode() {
    Subscription subscription = subscribeTo("a");
    server.freeze();

    CompletableFuture<Void> saying =
        CompletableFuture.runAsync(
            () -> {
              String prefix = "x".repeat(1_000);
              for (int name = 0; name < MANY; name++) {
                subscription.subscribe(prefix + name);
                subscription.unsubscribe(prefix + name);
              }
              subscription.close();
            });

    assertThat(saying).succeedsWithin(20, SECONDS);
    assertThat(ends).hasValue(0);
  }

  private Subscription subscribeTo(String channel) {
    Subscription subscription = open();
    subscription.subscribe(channel);
    soon().until(() -> hears(channel) == 1);
    return subscription;
  }

  private Subscription open() {
    Subscription subscription =
        new Subscription(
            ALWAYS,
            new Subscription.Listener() {
              @Override
              public void onMessage(String channel, String message) {
                received.add(channel + "=" + message);
              }

              @Override
              public void onEnded(Subscription ended) {
                ends.incrementAndGet();
              }
            });
    driver.nodes().subscribe(0, subscription);
    return subscription;
  }

  private long hears(String channel) {
    return server.command("PUBSUB", "NUMSUB", channel) instanceof List<?> reply
        ? (Long) reply.get(1)
        : -1;
  }

  private long listeners() {
    return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "pubsub")).lines().count();
  }

  /** Like refusals are one entry, with their number. */
  private int refusals() {
    return refused().stream().mapToInt(entry -> Integer.parseInt(field(entry, "count"))).sum();
  }

  /** Its id and address, as the server lists its clients. */
  private String lastRefused() {
    String client = field(refused().get(0), "client-info");
    return client.substring(0, client.indexOf(" laddr"));
  }

  private List<?> refused() {
    return server.command("ACL", "LOG") instanceof List<?> entries ? entries : List.of();
  }

  private static String field(Object entry, String name) {
    List<?> fields = (List<?>) entry;
    return String.valueOf(fields.get(fields.indexOf(name) + 1));
  }
}
