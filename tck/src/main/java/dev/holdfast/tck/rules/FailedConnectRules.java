package dev.holdfast.tck.rules;

import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Nodes cannot be connected to: nothing is left of the attempts, by threads and connections. */
public abstract class FailedConnectRules {
  /** Less patient than a test may be, because the kit waits for it many times. */
  private static final String[] IMPATIENT = {"connectTimeout=50ms", "nodeTimeout=50ms"};

  /** Options that no backend may take. */
  private static final List<String> WRONG =
      List.of("maxTtl=0s", "maxTtl=nonsense", "retryDelay=-1ms", "noSuchOption=1");

  /** More than the managers that are open at the same time. */
  private static final int MANY = 3 * ManyRules.MANAGERS;

  /** The time in which an opening that is refused at once is repeated. */
  private static final Duration BRIEF = Duration.ofMillis(100);

  private static final OpenSettings TRUSTING =
      OpenSettings.none()
          .trustManagers(TestCertificate.trusting(TestCertificate.LOCALHOST))
          .keyManagers(TestCertificate.ELSEWHERE.keyManagers());

  final TckFixture fixture;

  public FailedConnectRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that the threads of a connection whose log-in is refused end")
  void noThreadIsLeftOfManagersWhoseLogInIsRefused() {
    Needs.nodes(fixture, 1);
    List<String> uris = fixture.uris();
    uris.replaceAll(uri -> uri.replaceAll("://([^@/,]*@)?", "://nobody:wrong@"));

    Threads.requireFewLeft(
        fixture,
        "managers whose log-in was refused left fewer threads than that",
        () -> {
          openAndClose(uris);
          if (fixture.environment().hasNodeOptions()) {
            openAndClose(uris, "connect=lazy");
          }
        });
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that no thread is started before the options are read, or that it is ended")
  void noThreadIsLeftOfManagersWhoseOptionsAreRefused() {
    Threads.requireFewLeft(
        fixture,
        "managers with wrong options left fewer threads than that",
        () -> {
          for (String wrong : WRONG) {
            try {
              fixture.open(wrong).close();
            } catch (LockException refused) {
              IgnoredFailures.add(refused);
            }
          }
        });
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that opening refuses wrong options first, or closes all that it made")
  void noThreadAndNoConnectionIsLeftOfManagersThatAreRefused() {
    Needs.nodes(fixture, 1);
    Counts.needsConnections(fixture);
    int before = Counts.connections(fixture);

    Threads.requireFewLeft(
        fixture,
        "managers that were refused left fewer threads than that",
        () -> {
          refusedOpenings().forEach(Runnable::run);
          for (TckNode node : fixture.nodes()) {
            node.otherDatabase()
                .ifPresent(uri -> openAndClose(List.of(OptionRules.withoutDatabase(uri))));
          }
        });

    Counts.awaitNoMoreConnections(fixture, before);
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that an opening that is refused ends nothing that it shares with others")
  void openingsThatAreRefusedEndNothingThatAnotherManagerNeeds() {
    Needs.nodes(fixture, 1);
    LockManager older = fixture.open();
    for (Runnable opening : refusedOpenings()) {
      OnNodes.take(fixture, older, fixture.name("before"), fixture.ttl());
      repeat(opening);
      OnNodes.take(fixture, older, fixture.name("after"), fixture.ttl());
    }
  }

  /** Repeats an opening: other tests have managers open, which may hold what it releases. */
  private static void repeat(Runnable opening) {
    long begun = System.nanoTime();
    for (int i = 0; i < MANY && Elapsed.since(begun).compareTo(BRIEF) < 0; i++) {
      opening.run();
    }
  }

  /** Returns openings that are refused, or may be. */
  private List<Runnable> refusedOpenings() {
    List<Runnable> openings = new ArrayList<>();
    for (List<String> uris : refused()) {
      openings.add(() -> openAndClose(uris));
    }
    openings.add(() -> openAndClose(TRUSTING, fixture.uris()));
    WRONG.forEach(wrong -> openings.add(() -> openAndClose(fixture.uris(), wrong)));
    return openings;
  }

  /** Returns nodes that a driver refuses, or cannot log in to. */
  private List<List<String>> refused() {
    List<String> uris = fixture.uris();
    return List.of(
        uris.stream().map(uri -> uri.replaceFirst("^redis:", "rediss:")).toList(),
        uris.stream().map(uri -> uri.replaceFirst("^redis:", "redis+unknown:")).toList(),
        uris.stream().map(uri -> uri.replaceFirst("://([^@/]*@)?", "://nobody:wrong@")).toList(),
        uris.stream().map(uri -> uri + "/99999").toList(),
        Stream.concat(uris.stream(), uris.stream().limit(1)).toList());
  }

  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that a connection is closed on which a subscription was refused")
  void noThreadAndNoConnectionIsLeftOfSubscriptionsThatAreRefused() {
    Needs.of(fixture, TckFault.NO_SUBSCRIPTIONS);
    Counts.needsConnections(fixture);
    int before = Counts.connections(fixture);
    Contender contender = Contender.holding(fixture, fixture.name("busy"));
    LockRequest request = fixture.request(contender.name()).waitForever();
    Faults.begin(fixture, TckFault.NO_SUBSCRIPTIONS, fixture.nodes(), "");

    Threads.requireFewLeft(
        fixture,
        "managers whose subscriptions were refused left fewer threads than that",
        () -> {
          try (LockManager locks = fixture.open()) {
            CompletableFuture<?> waiter = locks.tryAcquireAsync(request);
            Attempts.comes(waiter::isDone); // the subscription is refused meanwhile
          }
        });

    Counts.awaitNoMoreConnections(fixture, before);
  }

  /** Opens managers while some of the nodes are gone and one hangs. */
  @Test
  @Rule("CLOSE-4")
  @IfThisFails("check that opening closes all that it made if it fails for want of a quorum")
  void noThreadAndNoConnectionIsLeftOfManagersWithoutAQuorum() {
    Needs.of(fixture, TckFault.DEAD, TckFault.FROZEN);
    Needs.nodeOptions(fixture);
    Counts.needsConnections(fixture);
    int before = Counts.connections(fixture);
    List<TckNode> dead = fixture.blocking().subList(1, fixture.blocking().size());
    Faults.begin(fixture, TckFault.DEAD, dead, "");
    Faults.begin(fixture, TckFault.FROZEN, fixture.node(0), "");

    Threads.requireFewLeft(
        fixture,
        "managers without a quorum left fewer threads than that",
        () -> openAndClose(fixture.uris()));

    Faults.end(TckFault.FROZEN, List.of(fixture.node(0)), "");
    Faults.end(TckFault.DEAD, dead, "");
    Counts.awaitNoMoreConnections(fixture, before);
  }

  /** Opens a manager, asks for a lock if that succeeds, and closes it. */
  private void openAndClose(List<String> uris, String... options) {
    try (LockManager locks = fixture.openOn(uris, impatient(options))) {
      TckFixture.regardless(() -> locks.tryAcquire(fixture.name("attempt"), fixture.ttl()));
    } catch (LockException failed) {
      IgnoredFailures.add(failed);
    }
  }

  /** Opens a manager with settings that a backend may refuse, where it can be given any. */
  private void openAndClose(OpenSettings settings, List<String> uris) {
    try {
      fixture.environment().openOn(uris, Map.of(), settings).close();
    } catch (LockException | UnsupportedOperationException failed) {
      IgnoredFailures.add(failed);
    }
  }

  private static String[] impatient(String... options) {
    return Stream.concat(Arrays.stream(IMPATIENT), Arrays.stream(options)).toArray(String[]::new);
  }
}
