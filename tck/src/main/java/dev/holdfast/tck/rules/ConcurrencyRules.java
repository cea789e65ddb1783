package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many want the same locks at the same time. How soon they get them is other rules'. */
@Tag("exclusion")
public abstract class ConcurrencyRules {
  final TckFixture fixture;

  public ConcurrencyRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("ACQ-1")
  @IfThisFails("check what happens when a lock is handed from one waiter to another")
  void threadsAndManagersNeverEnterTogether() throws InterruptedException {
    String name = fixture.name("counter");
    CriticalSection section = new CriticalSection();
    List<LockManager> managers = List.of(fixture.open(), fixture.open());
    try (Workers workers = new Workers()) {
      for (int worker = 0; worker < 6; worker++) {
        LockManager locks = managers.get(worker % 2);
        workers.start(() -> enter(locks, name, section, 15));
      }
      workers.join();
    }
    section.assertNeverTwo();
  }

  @Test
  @Rule("ACQ-1")
  @IfThisFails("check that a node grants a lock and takes it in one step")
  void simultaneousAttemptsGrantOneAtMost() throws Exception {
    List<LockManager> managers = List.of(fixture.open(), fixture.open(), fixture.open());
    for (int round = 0; round < 30; round++) {
      assertOneAtMost(managers, fixture.name("race"));
    }
  }

  @Test
  @Rule("ACQ-1")
  @IfThisFails("check that a grant needs more than half of all nodes, and not of those that answer")
  void theLastQuorumIsGrantedToOneAtMost() throws Exception {
    Needs.nodes(fixture, 3);
    List<LockManager> managers = List.of(fixture.open(), fixture.open(), fixture.open());
    for (int round = 0; round < 20; round++) {
      String name = fixture.name("last");
      OnNodes.occupy(fixture, fixture.minority(), name);
      assertOneAtMost(managers, name);
    }
  }

  @Test
  @Rule("ACQ-1")
  @IfThisFails("check what happens when waits end while locks are handed on")
  void twoLocksInOppositeOrderAreNeverHeldByTwo() throws InterruptedException {
    String a = fixture.name("a");
    String b = fixture.name("b");
    CriticalSection ofA = new CriticalSection();
    CriticalSection ofB = new CriticalSection();
    try (Workers workers = new Workers()) {
      for (int worker = 0; worker < 4; worker++) {
        LockManager locks = fixture.open();
        boolean ahead = worker % 2 == 0;
        workers.start(
            () -> {
              for (int i = 0; i < 8; i++) {
                enterBoth(
                    locks, ahead ? a : b, ahead ? ofA : ofB, ahead ? b : a, ahead ? ofB : ofA);
              }
            });
      }
      workers.join();
    }
    ofA.assertNeverTwo();
    ofB.assertNeverTwo();
  }

  @Test
  @Rule("ACQ-1")
  @IfThisFails("check that many threads of one manager exclude each other")
  void aHundredAndTwentyEightThreadsNeverEnterTogether() throws InterruptedException {
    manyThreadsNeverEnterTogether(Executors.newCachedThreadPool(), 128);
  }

  @Test
  @Rule("ACQ-1")
  @IfThisFails("check for what pins virtual threads to their carriers, or keeps state by thread")
  void aThousandVirtualThreadsNeverEnterTogether() throws InterruptedException {
    ExecutorService virtual = virtualThreads().orElseGet(() -> abort("before JDK 21"));
    manyThreadsNeverEnterTogether(virtual, 1_000);
  }

  @Test
  @Rule("ACQ-1")
  @IfThisFails("check that tokens of two processes differ, and that a node compares them")
  void processesLoseNoIncrement() throws IOException, InterruptedException {
    assertNoneLost(2, 40);
  }

  @Test
  @Tag("soak")
  @Timeout(600)
  @Rule("ACQ-1")
  @IfThisFails("check that tokens of two processes differ, and that a node compares them")
  void tenProcessesLoseNoneOfAThousandIncrementsEach() throws IOException, InterruptedException {
    assertNoneLost(10, 1_000);
  }

  private void manyThreadsNeverEnterTogether(ExecutorService executor, int threads)
      throws InterruptedException {
    String name = fixture.name("crowd");
    LockManager locks = fixture.open();
    CriticalSection section = new CriticalSection();
    try (Workers workers = new Workers(executor)) {
      for (int i = 0; i < threads; i++) {
        workers.start(() -> enter(locks, name, section, 1));
      }
      workers.join();
    }
    section.assertNeverTwo();
  }

  private void enter(LockManager locks, String name, CriticalSection section, int times)
      throws InterruptedException {
    long begun = System.nanoTime();
    int entered = 0;
    while (entered < times && isEarly(begun)) {
      Optional<Lease> lease = waited(locks, name, Duration.ofSeconds(1));
      if (lease.isPresent()) {
        section.enter();
        TckFixture.regardless(lease.get()::release);
        entered++;
      }
    }
  }

  private void enterBoth(
      LockManager locks,
      String first,
      CriticalSection ofFirst,
      String second,
      CriticalSection ofSecond)
      throws InterruptedException {
    Duration wait = Duration.ofMillis(100);
    Optional<Lease> one = waited(locks, first, wait);
    if (one.isPresent()) {
      ofFirst.enter();
      Optional<Lease> other = waited(locks, second, wait);
      if (other.isPresent()) {
        ofSecond.enter();
        TckFixture.regardless(other.get()::release);
      }
      ofFirst.enter();
      TckFixture.regardless(one.get()::release);
    }
  }

  private void assertOneAtMost(List<LockManager> managers, String name)
      throws InterruptedException {
    Queue<Lease> granted = new ConcurrentLinkedQueue<>();
    CyclicBarrier start = new CyclicBarrier(managers.size());
    try (Workers workers = new Workers()) {
      for (LockManager locks : managers) {
        workers.start(
            () -> {
              start.await();
              Attempts.once(locks, name, fixture.ttl()).ifPresent(granted::add);
            });
      }
      workers.join();
    }
    assertThat(granted).as("leases on %s", name).hasSizeLessThanOrEqualTo(1);
    granted.forEach(lease -> TckFixture.regardless(lease::release));
  }

  /** Counts in a file, which knows nothing of locks. */
  private void assertNoneLost(int processes, int increments)
      throws IOException, InterruptedException {
    ByUrl.neededInProcesses(fixture);
    String name = fixture.name("file");
    Path file = Files.createTempFile("holdfast-tck", ".count");
    fixture.atEnd(() -> file.toFile().delete());
    Files.writeString(file, "0");
    List<OtherProcess> counting = new ArrayList<>();
    for (int i = 0; i < processes; i++) {
      counting.add(OtherProcess.counting(fixture, name, file, increments));
    }

    for (OtherProcess process : counting) {
      process.awaitEnd();
    }

    assertThat(Files.readString(file)).isEqualTo(Integer.toString(processes * increments));
  }

  private Optional<Lease> waited(LockManager locks, String name, Duration wait)
      throws InterruptedException {
    try {
      return locks.tryAcquire(LockRequest.of(name, fixture.ttl()).waitAtMost(wait));
    } catch (LockException notGot) {
      IgnoredFailures.add(notGot);
      return Optional.empty();
    }
  }

  /**
   * Returns whether time is left for another call. Without a limit, a caller that is never served
   * would fail a test of this rule.
   */
  private boolean isEarly(long begun) {
    return System.nanoTime() - begun < fixture.timing().soon().dividedBy(3).toNanos();
  }

  private static Optional<ExecutorService> virtualThreads() {
    try {
      return Optional.of(
          (ExecutorService)
              Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
    } catch (ReflectiveOperationException before21) {
      return Optional.empty();
    }
  }
}
