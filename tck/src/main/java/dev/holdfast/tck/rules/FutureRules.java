package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Methods that return a future return before it is complete. */
public abstract class FutureRules {
  /** Longer than any test waits. */
  private static final String PATIENT = "nodeTimeout=60s";

  /** Half of what a client that blocks waits for, and more than a busy machine takes. */
  private static final Duration AT_ONCE = Duration.ofMillis(500);

  /** Above the number of operations that a manager has in flight. */
  private static final int MANY = 300;

  /** Less than a pause of 10 ms in half of {@link #MANY} calls, and more than these take. */
  private static final Duration FOR_MANY = Duration.ofMillis(1_200);

  /** So many in a row are not all stopped by a machine that stalls. */
  private static final int QUICK = 20;

  /** More than any computation here takes, and less than what blocks is worth to be noticed. */
  private static final Duration QUICKEST = Duration.ofMillis(5);

  final TckFixture fixture;

  public FutureRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("RES-3")
  @IfThisFails("check that tryAcquireAsync() leaves its caller's thread before it asks the nodes")
  void anAsynchronousRequestDoesNotWaitForTheAnswer() {
    Needs.of(fixture, TckFault.FROZEN);
    Retries.anyOf(
        () -> {
          LockManager locks = fixture.open(PATIENT);
          String name = fixture.name("hangs");
          List<CompletableFuture<?>> asked = new ArrayList<>();
          whileAllHang(
              name,
              () -> {
                assertReturns(
                    "tryAcquireAsync without a wait",
                    () -> asked.add(locks.tryAcquireAsync(fixture.request(name))));
                assertReturns(
                    "tryAcquireAsync with a wait",
                    () -> asked.add(locks.tryAcquireAsync(fixture.request(name).waitForever())));
              });
          asked.forEach(future -> future.cancel(true));
        });
  }

  @Test
  @Rule("RES-3")
  @IfThisFails("check that a lazy manager does not connect on the thread of its caller")
  void anAsynchronousRequestDoesNotWaitForTheConnectionsOfALazyManager() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodeOptions(fixture);
    Retries.anyOf(
        () -> {
          LockManager locks = fixture.open(PATIENT, "connect=lazy", "connectTimeout=60s");
          String name = fixture.name("hangs");
          List<CompletableFuture<?>> asked = new ArrayList<>();
          whileAllHang(
              name,
              () ->
                  assertReturns(
                      "the first tryAcquireAsync",
                      () -> asked.add(locks.tryAcquireAsync(fixture.request(name)))));
          asked.forEach(future -> future.cancel(true));
        });
  }

  @Test
  @Rule("RES-3")
  @IfThisFails("check that releaseAsync() needs no monitor that a call in flight holds")
  void anAsynchronousReleaseDoesNotWaitForAnotherThreadsCall() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodeOptions(fixture);
    assertReleasesBeside("extend", lease -> lease.extend(fixture.ttl()));
    if (fixture.declares(LockCapability.TRANSFER)) {
      assertReleasesBeside("transfer", lease -> lease.transfer(fixture.ttl()));
    }
  }

  private void assertReleasesBeside(String what, Consumer<Lease> call) {
    Retries.anyOf(
        () -> {
          Lease lease = held();
          whileAllHang(
              lease.name(),
              () -> {
                Call<?> hanging =
                    Call.begin(
                        () -> {
                          call.accept(lease);
                          return true;
                        });
                fixture.awaitRegardless("it hangs", hanging::isWaitingOrOver);
                assertReturns("releaseAsync beside " + what, lease::releaseAsync);
              });
        });
  }

  @Test
  @Rule("RES-3")
  @IfThisFails("check that releaseAsync() leaves its caller's thread before it asks the nodes")
  void anAsynchronousReleaseDoesNotWaitForTheAnswer() {
    Needs.of(fixture, TckFault.FROZEN);
    Retries.anyOf(
        () -> {
          Lease lease = held();
          whileAllHang(
              lease.name(),
              () -> {
                assertReturns("releaseAsync", lease::releaseAsync);
                assertReturns("a second releaseAsync", lease::releaseAsync);
              });
        });
  }

  @Test
  @Rule("RES-3")
  @IfThisFails("check that extendAsync() leaves its caller's thread before it asks the nodes")
  void anAsynchronousExtensionDoesNotWaitForTheAnswer() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.of(fixture, TckFault.FROZEN);
    Retries.anyOf(
        () -> {
          Lease lease = held();
          whileAllHang(
              lease.name(),
              () -> {
                assertReturns("extendAsync", () -> lease.extendAsync(fixture.ttl()));
                assertReturns("extendAsync behind another", () -> lease.extendAsync(fixture.ttl()));
              });
        });
  }

  @Test
  @Rule("RES-3")
  @IfThisFails("check that no lock is held while a call waits for nodes")
  void anAsynchronousRequestDoesNotWaitForCallsThatBlock() {
    Needs.of(fixture, LockCapability.INSPECTION, LockCapability.FORCE_RELEASE);
    Needs.of(fixture, TckFault.FROZEN);
    Retries.anyOf(
        () -> {
          LockManager locks = fixture.open(PATIENT);
          Lease lease = OnNodes.take(fixture, locks, fixture.name("held"), fixture.ttl());
          String name = fixture.name("hangs");
          List<CompletableFuture<?>> asked = new ArrayList<>();
          whileAllHang(
              name,
              () -> {
                List<Call<?>> blocked =
                    List.of(
                        Call.begin(() -> locks.inspect(name)),
                        Call.begin(() -> locks.forceRelease(name)),
                        Call.begin(() -> locks.tryAcquire(name, fixture.ttl())));
                fixture.awaitRegardless(
                    "calls wait", () -> blocked.stream().allMatch(Call::isWaiting));
                assertReturns(
                    "tryAcquireAsync beside calls that wait",
                    () -> asked.add(locks.tryAcquireAsync(fixture.request(name))));
                assertReturns("releaseAsync beside calls that wait", lease::releaseAsync);
              });
          asked.forEach(future -> future.cancel(true));
        });
  }

  @Test
  @Rule("RES-3")
  @IfThisFails("check that no call waits for room, however many commands a node has not answered")
  void manyAsynchronousRequestsDoNotWaitForNodesThatHang() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(PATIENT);
    Retries.anyOf(
        () -> {
          Iterator<Lease> extended = many(fixture.open(PATIENT)).iterator();
          Iterator<Lease> released = many(fixture.open(PATIENT)).iterator();
          List<CompletableFuture<?>> asked = new ArrayList<>();
          whileAllHang(
              "",
              () -> {
                assertManyReturn(
                    "tryAcquireAsync",
                    () -> asked.add(locks.tryAcquireAsync(fixture.request(fixture.name("many")))));
                if (fixture.declares(LockCapability.EXTENSION)) {
                  assertManyReturn("extendAsync", () -> extended.next().extendAsync(fixture.ttl()));
                }
                assertManyReturn("releaseAsync", () -> released.next().releaseAsync());
              });
          asked.forEach(future -> future.cancel(true));
        });
  }

  private List<Lease> many(LockManager locks) {
    List<CompletableFuture<Optional<Lease>>> asked = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      asked.add(locks.tryAcquireAsync(fixture.request(fixture.name("many"))));
    }
    return asked.stream()
        .map(
            one ->
                fixture
                    .soon()
                    .get("one of many free locks is granted", one)
                    .orElseGet(() -> AnotherRule.isBroken("a free lock is refused")))
        .toList();
  }

  private Lease held() {
    return OnNodes.take(fixture, fixture.open(PATIENT), fixture.name("held"), fixture.ttl());
  }

  /**
   * Thaws the nodes afterwards, so that another try begins with a manager and a lock of its own.
   */
  private void whileAllHang(String name, Runnable calls) {
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), name);
    try {
      calls.run();
    } finally {
      Faults.end(TckFault.FROZEN, fixture.nodes(), name);
    }
  }

  /** Checks that many calls return while all nodes hang, and ends them once they took too long. */
  private void assertManyReturn(String what, Runnable asks) {
    try (Stalls stalls = Stalls.watched()) {
      Call<?> calls =
          Call.begin(
              () -> {
                long begun = System.nanoTime();
                for (int i = 0; i < MANY && isWithin(begun, stalls); i++) {
                  asks.run();
                }
                return true;
              });
      assertThat(calls.awaited(fixture).took())
          .as("the time that %d calls of %s took while all nodes hang", MANY, what)
          .isLessThan(FOR_MANY.plus(stalls.worst()));
    }
  }

  private static boolean isWithin(long begun, Stalls stalls) {
    return Elapsed.since(begun).compareTo(FOR_MANY.plus(stalls.worst())) < 0;
  }

  @Test
  @Rule("RES-3")
  @IfThisFails("check that a backend in this process does its work elsewhere, too")
  void theQuickestCallsForFuturesReturnAtOnce() {
    LockManager locks = fixture.open();
    List<Lease> leases = new ArrayList<>();
    Duration asked = quickest(() -> locks.tryAcquireAsync(fixture.request(fixture.name("quick"))));
    for (int i = 0; i < QUICK; i++) {
      leases.add(fixture.take(locks, fixture.name("quick"), fixture.ttl()));
    }
    Iterator<Lease> extended = leases.iterator();
    Iterator<Lease> released = leases.iterator();

    assertThat(asked).as("the quickest tryAcquireAsync").isLessThan(QUICKEST);
    if (fixture.declares(LockCapability.EXTENSION)) {
      assertThat(quickest(() -> extended.next().extendAsync(fixture.ttl())))
          .as("the quickest extendAsync")
          .isLessThan(QUICKEST);
    }
    assertThat(quickest(() -> released.next().releaseAsync()))
        .as("the quickest releaseAsync")
        .isLessThan(QUICKEST);
  }

  /** Returns the least time of some calls, each of which waits until the one before is over. */
  private Duration quickest(Supplier<CompletableFuture<?>> call) {
    Duration least = fixture.ttl();
    for (int i = 0; i < QUICK; i++) {
      long begun = System.nanoTime();
      CompletableFuture<?> future = call.get();
      Duration took = Elapsed.since(begun);
      least = took.compareTo(least) < 0 ? took : least;
      fixture.awaitRegardless("a future completes", future::isDone);
    }
    return least;
  }

  /** Checks that a call returns at once while all nodes hang, not when a time limit ends. */
  private void assertReturns(String what, Runnable asks) {
    Call<?> call =
        Call.begin(
            () -> {
              asks.run();
              return true;
            });
    fixture.soon().until(what + " had returned while all nodes hang", call::isOver);
    assertThat(call.took()).as("the time that %s took", what).isLessThan(AT_ONCE);
  }
}
