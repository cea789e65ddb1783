package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many locks, leases and callers of one manager at the same time. */
public abstract class ManyRules {
  /** Above the number of operations that a manager has in flight, and above other round numbers. */
  private static final int BURST = 600;

  /** More than registries, pools and bulkheads of a round size hold. */
  private static final int MORE_THAN_USUAL = 2_100;

  /** More than caches of a round size hold. */
  private static final int NAMES = 1_100;

  /** The same where no node has to be asked for each. */
  private static final int NAMES_IN_PROCESS = 11_000;

  private static final int LEASES = 100;

  /** More than a number of 16 bits with a sign counts. */
  private static final int COMMANDS = 33_000;

  private static final int CALLERS = 12;

  /** Above 32, because a pool that all managers of a process share has a round size. */
  static final int MANAGERS = 33;

  /** The same where each manager may have a pool of its own on one server. */
  private static final int MANAGERS_WITHOUT_NODES = 9;

  /** The time of a try: several must end within that of a test. */
  private static final Duration SOON = Duration.ofSeconds(4);

  /** More than pools and bulkheads of a round size have. */
  private static final int WAITING_THREADS = 270;

  /** Threads that are interrupted at the same time. */
  private static final int INTERRUPTED_THREADS = 210;

  /** So that a burst is longer than buffers of a round size. */
  private static final int LONG_NAME = 990;

  /** Much longer than a busy machine needs for a burst, and shorter than a node is silent. */
  private static final Duration UNTIL_ALL_ARE_GRANTED = Duration.ofSeconds(8);

  /** A pause of all nodes: longer than a burst takes to be sent, shorter than an outage. */
  private static final Duration PAUSE = Duration.ofMillis(300);

  private static final Duration LONG = Duration.ofHours(1);

  final TckFixture fixture;

  public ManyRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("WAIT-14")
  @IfThisFails("check that requests beyond a limit are queued, and are neither refused nor dropped")
  void aBurstOfRequestsIsGrantedAndReleased() {
    LockManager locks = fixture.open("nodeTimeout=10s", "quorumTimeout=30s");
    List<Lease> leases = new ArrayList<>();
    Duration enough = fixture.ttl().dividedBy(3); // so that all are released before their ends
    long begun = System.nanoTime();
    while (leases.size() < MORE_THAN_USUAL && Elapsed.since(begun).compareTo(enough) < 0) {
      List<CompletableFuture<Optional<Lease>>> asked =
          IntStream.range(0, BURST)
              .mapToObj(i -> fixture.name("burst" + "s".repeat(i % 2 * LONG_NAME)))
              .map(name -> locks.tryAcquireAsync(fixture.request(name)))
              .toList();
      for (CompletableFuture<Optional<Lease>> one : asked) {
        assertThat(fixture.soon().get("one of many free locks is granted", one)).isPresent();
        one.join().ifPresent(leases::add);
      }
    }
    List<CompletableFuture<Boolean>> released = leases.stream().map(Lease::releaseAsync).toList();
    for (CompletableFuture<Boolean> one : released) {
      assertThat(fixture.soon().get("one of many leases is released", one))
          .as("whether one of many leases was held until its release")
          .isTrue();
    }
  }

  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that no command is refused or dropped because others have no answer yet")
  void aBurstIsGrantedThoughNoNodeAnswersForAWhile() throws Exception {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodeOptions(fixture);
    LockManager locks = fixture.open("nodeTimeout=10s", "quorumTimeout=30s");
    fixture.take(locks, fixture.name("warm"), fixture.ttl()).close();
    List<CompletableFuture<Optional<Lease>>> asked = new ArrayList<>();

    Faults.whileFrozen(
        fixture,
        fixture.nodes(),
        () -> {
          for (int i = 0; i < BURST; i++) {
            asked.add(locks.tryAcquireAsync(fixture.request(fixture.name("burst"))));
          }
          fixture.awaitPast(System.nanoTime(), PAUSE);
        });

    for (CompletableFuture<Optional<Lease>> one : asked) {
      assertThat(fixture.soon().get("one of many free locks is granted", one)).isPresent();
    }
  }

  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that no call needs a thread of the JDK's common pool")
  void locksAreServedThoughTheProgramBlocksTheCommonPool() {
    LockManager locks = fixture.open("nodeTimeout=10s", "quorumTimeout=30s");
    int threads = Math.max(1, ForkJoinPool.getCommonPoolParallelism());
    CountDownLatch blocked = new CountDownLatch(threads);
    CountDownLatch end = new CountDownLatch(1);
    fixture.atEnd(end::countDown);
    for (int i = 0; i < threads; i++) {
      ForkJoinPool.commonPool()
          .submit(
              () -> {
                blocked.countDown();
                return end.await(1, TimeUnit.MINUTES);
              });
    }
    fixture.awaitRegardless("the common pool is blocked", () -> blocked.getCount() == 0);

    Lease lease = fixture.take(locks, fixture.name("used"), fixture.ttl());
    CompletableFuture<Optional<Lease>> waiter =
        locks.tryAcquireAsync(fixture.request(lease.name()).waitAtMost(LONG));
    if (fixture.declares(LockCapability.EXTENSION)) {
      lease.extend(fixture.ttl());
    }
    assertThat(lease.release()).as("its release").isTrue();
    assertThat(fixture.soon().get("the waiter is served", waiter)).isPresent();
    end.countDown();
  }

  @Test
  @Rule("FAULT-2")
  @IfThisFails("check that no call waits for room on a connection with many unanswered commands")
  void aMinorityThatHangsDelaysNoCallHoweverManyItHasNotAnswered() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
    Duration nodeTimeout = Duration.ofMillis(100);

    Retries.anyOf(
        () -> {
          // a new one each time, because it soon knows which nodes hang
          LockManager locks =
              fixture.open("nodeTimeout=" + nodeTimeout.toMillis() + "ms", TckFixture.NO_OUTAGE);
          fixture.take(locks, fixture.name("warm"), fixture.ttl()).close();
          Faults.whileFrozen(
              fixture,
              fixture.minority(),
              () -> {
                askMany(locks);
                assertAnsweredWithout(locks, nodeTimeout);
              });
        });
  }

  /** Makes calls one after the other, which may wait for silent nodes. */
  private void assertAnsweredWithout(LockManager locks, Duration nodeTimeout) {
    try (Stalls stalls = Stalls.watched()) {
      Call<?> calls =
          Call.begin(
              () -> {
                for (int i = 0; i < CALLERS; i++) {
                  Attempts.once(locks, fixture.name("next"), fixture.ttl());
                }
                return true;
              });

      assertThat(calls.awaited(fixture).took())
          .as("the time of %d calls", CALLERS)
          .isLessThan(
              nodeTimeout.multipliedBy(CALLERS).plus(fixture.allowance()).plus(stalls.worst()));
    }
  }

  /** Makes many attempts at the same time, for a second at most, and waits for their ends. */
  private void askMany(LockManager locks) {
    long begun = System.nanoTime();
    List<CompletableFuture<?>> asked = new ArrayList<>();
    while (asked.size() < BURST && Elapsed.since(begun).toSeconds() < 1) {
      String name = fixture.name("many" + "y".repeat(asked.size() % 2 * LONG_NAME));
      asked.add(locks.tryAcquireAsync(fixture.request(name)));
    }
    fixture.awaitRegardless(
        "they are over", () -> asked.stream().allMatch(CompletableFuture::isDone));
    assertThat(Elapsed.since(begun))
        .as("the time of many requests at the same time")
        .isLessThan(UNTIL_ALL_ARE_GRANTED);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that fencing counters are not dropped while many names are in use")
  void theFencingTokensOfANameIncreaseThoughManyOthersWereUsedSince() {
    Needs.of(fixture, LockCapability.FENCING_TOKEN);
    LockManager locks = fixture.open("nodeTimeout=10s");
    String name = fixture.name("fenced");
    long token = 0;
    for (int i = 0; i < 3; i++) {
      token = fencingTokenOf(locks, name);
    }
    int names = fixture.nodes().isEmpty() ? NAMES_IN_PROCESS : NAMES;
    for (int used = 0; used < names; used += LEASES) {
      useOthers(locks);
    }

    assertThat(fencingTokenOf(locks, name)).isGreaterThan(token);
  }

  /** Takes and releases many locks at the same time. */
  private void useOthers(LockManager locks) {
    List<CompletableFuture<?>> others = new ArrayList<>();
    for (int i = 0; i < LEASES; i++) {
      others.add(
          locks
              .tryAcquireAsync(fixture.request(fixture.name("other")))
              .thenCompose(lease -> lease.orElseThrow().releaseAsync()));
    }
    others.forEach(one -> fixture.soon().get("one of many locks is used", one));
  }

  private long fencingTokenOf(LockManager locks, String name) {
    try (Lease lease = fixture.take(locks, fixture.request(name))) {
      return lease.fencingToken().orElseThrow();
    }
  }

  @Test
  @Rule("ACQ-24")
  @IfThisFails("check what is counted for each command or reply: it needs more than 16 bits")
  void aManagerServesMoreRequestsThanSmallNumbersCount() {
    LockManager locks =
        fixture.nodes().isEmpty()
            ? fixture.open()
            : fixture.openOn(fixture.uris().subList(0, 1), "nodeTimeout=10s");
    Duration enough = fixture.timing().limit().dividedBy(8); // a busy machine shows less
    long begun = System.nanoTime();
    for (int used = 0; used < COMMANDS / 2; used += LEASES) {
      useOthers(locks);
      if (Elapsed.since(begun).compareTo(enough) > 0) {
        return;
      }
    }
  }

  @Test
  @Rule("ACQ-24")
  @IfThisFails("check that nothing of the process has room for some managers only")
  void eachOfManyManagersLocks() {
    int managers = fixture.nodes().isEmpty() ? MANAGERS_WITHOUT_NODES : MANAGERS;
    long begun = System.nanoTime();
    for (int i = 0; i < managers; i++) {
      fixture.needsTime(begun, "managers");
      OnNodes.take(fixture, fixture.open(), fixture.name("taken"), fixture.ttl());
    }
  }

  @Test
  @Rule("KEEP-1")
  @IfThisFails("check that leases are renewed side by side, however many there are")
  void manyLeasesAreRenewedAtTheSameTime() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    LockManager locks = fixture.open();
    Retries.anyOf(
        () -> {
          List<Lease> leases = new ArrayList<>();
          try {
            for (int i = 0; i < LEASES; i++) {
              LockRequest request = LockRequest.of(fixture.name("many"), Renewals.TTL);
              leases.add(fixture.take(locks, request.keepAliveUpTo(LONG)));
            }

            Renewals.await(fixture, leases);

            assertThat(leases).as("leases that are kept alive").allMatch(Lease::isHeld);
          } finally {
            leases.forEach(Lease::releaseAsync);
          }
        });
  }

  @Test
  @Rule("LOSS-1")
  @IfThisFails("check that the end of every lease is watched, however many there are")
  void theEndOfEachOfManyLeasesIsReported() {
    LockManager locks = fixture.openForShortTtl();
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < LEASES; i++) {
      leases.add(fixture.take(locks, fixture.name("many"), fixture.shortTtl()));
    }

    List<CompletableFuture<?>> ends = new ArrayList<>();
    leases.forEach(lease -> ends.add(lease.onLoss()));
    fixture
        .soon()
        .until(
            "onLoss() of all leases completes",
            () -> ends.stream().allMatch(CompletableFuture::isDone));
  }

  @Test
  @Rule("OPEN-4")
  @IfThisFails("check that a request which comes while a lazy manager connects waits for that")
  void simultaneousFirstRequestsOfALazyManagerAreGranted() {
    Needs.nodeOptions(fixture);
    List<Asking> ways = List.of(Asking.values());
    for (int round = 0; round < 3; round++) {
      LockManager locks = fixture.open("connect=lazy", "nodeTimeout=10s");
      List<Call<Object>> calls =
          calledAtOnce(
              caller -> {
                Asking way = ways.get(caller % ways.size());
                return resultOf(way, locks);
              });
      for (Call<Object> call : calls) {
        assertThat(call.awaited(fixture).result())
            .as("the result of one of the first requests")
            .hasValue(true);
      }
    }
  }

  @Test
  @Rule("REL-5")
  @IfThisFails("check that a release which comes while another is in flight takes its answer")
  void releasesAtTheSameTimeGiveTheSameAnswer() {
    LockManager locks = fixture.open("nodeTimeout=10s");
    for (int round = 0; round < 8; round++) {
      Lease lease = OnNodes.take(fixture, locks, fixture.name("released"), fixture.ttl());

      List<Call<Boolean>> calls =
          calledAtOnce(caller -> caller % 3 == 0 ? lease.releaseAsync().join() : lease.release());

      Set<Optional<Boolean>> answers = new HashSet<>();
      for (Call<Boolean> call : calls) {
        answers.add(call.awaited(fixture).result());
        assertThat(call.thrown()).as("thrown by a release").isEmpty();
      }
      assertThat(answers).as("answers to one lease's releases").hasSize(1);
    }
  }

  /** Begins calls of which none is over before all wait, if nodes can be made to wait. */
  private <T> List<Call<T>> calledAtOnce(CallOf<T> what) {
    boolean freezes = Faults.areKnown(fixture, TckFault.FROZEN);
    if (freezes) {
      Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), "");
    }
    List<Call<T>> calls =
        IntStream.range(0, CALLERS)
            .mapToObj(caller -> Call.begin(() -> what.call(caller)))
            .toList();
    if (freezes) {
      fixture
          .soon()
          .until("all wait for the nodes", () -> calls.stream().allMatch(Call::isWaitingOrOver));
      Faults.end(TckFault.FROZEN, fixture.nodes(), "");
    }
    return calls;
  }

  /** One of several calls. */
  private interface CallOf<T> {
    T call(int caller) throws Exception;
  }

  private Object resultOf(Asking way, LockManager locks) throws InterruptedException {
    try {
      return way.ask(locks, fixture.request(fixture.name("first"))).isPresent();
    } catch (LockException e) {
      return e;
    }
  }

  @Test
  @Rule("ACQ-6")
  @IfThisFails("check that threads that wait take no place from threads that ask for other locks")
  void manyThreadsThatWaitForOneLockDelayNoRequestForAnother() {
    String busy = fixture.name("busy");
    Contender contender = Contender.holding(fixture, busy);
    LockManager locks = fixture.open();
    List<Call<?>> waiting = new ArrayList<>();
    for (int i = 0; i < WAITING_THREADS; i++) {
      boolean acquires = i % 2 == 0;
      LockRequest request = fixture.request(busy).waitAtMost(LONG);
      waiting.add(Call.begin(() -> acquires ? locks.acquire(request) : locks.tryAcquire(request)));
    }
    List<CompletableFuture<?>> asynchronous = waitersFor(busy, locks);
    fixture.awaitRegardless("they wait", () -> waiting.stream().allMatch(Call::isWaiting));

    Retries.anyOf(
        () -> {
          try (Stalls stalls = Stalls.watched()) {
            Call<Boolean> other =
                Call.begin(
                    () -> {
                      Lease lease = locks.acquire(fixture.name("free"), fixture.ttl());
                      locks
                          .tryAcquireAsync(fixture.request(fixture.name("free")))
                          .get()
                          .orElseThrow()
                          .close();
                      return lease.release() && locks.ping(fixture.timing().soon());
                    });
            Eventually.within(SOON).until("a free lock was used", other::isOver);

            assertThat(other.took())
                .as("the time of five calls")
                .isLessThan(fixture.allowance().multipliedBy(2).plus(stalls.worst()));
          }
        });
    asynchronous.forEach(one -> one.cancel(true));
    waiting.forEach(Call::interrupt);
    fixture.awaitRegardless("they gave up", () -> waiting.stream().allMatch(Call::isOver));
    contender.letGo();
  }

  private List<CompletableFuture<?>> waitersFor(String busy, LockManager locks) {
    return Stream.<CompletableFuture<?>>generate(
            () -> locks.tryAcquireAsync(fixture.request(busy).waitAtMost(LONG)))
        .limit(MORE_THAN_USUAL)
        .toList();
  }

  @Test
  @Rule("WAIT-7")
  @IfThisFails("check that a wait that is interrupted takes no place any more")
  void manyInterruptsDelayNoLaterRequest() {
    String busy = fixture.name("busy");
    Contender contender = Contender.holding(fixture, busy);
    LockManager locks = fixture.open();
    // stays at the head of the queue, so that no interrupt begins the attempt of another one
    CompletableFuture<?> head = locks.tryAcquireAsync(fixture.request(busy).waitAtMost(LONG));
    long begun = System.nanoTime();
    int interrupted = 0;
    while (interrupted < MORE_THAN_USUAL && fixture.isEarly(begun)) {
      List<Call<?>> waiting =
          Stream.<Call<?>>generate(
                  () -> Call.begin(() -> locks.acquire(fixture.request(busy).waitAtMost(LONG))))
              .limit(INTERRUPTED_THREADS)
              .toList();
      fixture.awaitRegardless("they wait", () -> waiting.stream().allMatch(Call::isWaitingOrOver));
      waiting.forEach(Call::interrupt);
      fixture.awaitRegardless("they gave up", () -> waiting.stream().allMatch(Call::isOver));
      if (!waiting.stream().allMatch(Call::isOver)) {
        AnotherRule.isBroken("an interrupt does not end a wait");
      }
      interrupted += INTERRUPTED_THREADS;
    }
    head.cancel(true);
    contender.letGo();

    Call<?> next = Call.begin(() -> locks.acquire(fixture.name("free"), fixture.ttl()));
    assertThat(next.awaited(fixture).result()).as("the next lock").isPresent();
  }
}
