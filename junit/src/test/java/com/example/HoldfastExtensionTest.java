package com.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.junit.HoldfastExtension;
import dev.holdfast.memory.ManualClock;
import dev.holdfast.memory.MemoryLocks;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests of users, as JUnit runs them. */
class HoldfastExtensionTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @ExtendWith(HoldfastExtension.class)
  static class JobTests {
    @Test
    void stopsWhenItsLockIsLost(LockManager locks, ManualClock clock) throws Exception {
      try (ReportJob job = ReportJob.begin(locks)) {
        job.writePage();
        clock.advance(Duration.ofSeconds(31));
        assertThatThrownBy(job::writePage).isInstanceOf(LockLostException.class);
        assertThat(job.pages()).isEqualTo(1);
      }
    }

    @Test
    void stopsWhenItsLockIsStolen(LockManager locks, MemoryStore store) throws Exception {
      Lease lease = locks.acquire("report", TTL);
      store.steal("report", TTL);
      assertThatThrownBy(() -> lease.extend(TTL)).isInstanceOf(LockLostException.class);
    }

    @Test
    void worksUnderALockAndWithoutOne(LockManager locks) throws Exception {
      assertThat(locks.<Integer, Exception>executeLocked(LockRequest.of("report", TTL), l -> 1))
          .isEqualTo(1);
      CompletableFuture<Optional<Lease>> lease =
          locks.tryAcquireAsync(LockRequest.of("report", TTL));
      assertThat(lease.get(10, TimeUnit.SECONDS).orElseThrow().release()).isTrue();
    }

    @Test
    void needsNoLock() {}
  }

  @Test
  void aTestHasAManagerWithItsClockAndItsStore() {
    Outcome outcome = Outcome.of(JobTests.class);
    assertThat(outcome.failures()).isEmpty();
    assertThat(outcome.passed()).hasSize(4);
  }

  @ExtendWith(HoldfastExtension.class)
  static class OpenLeaseTests {
    @Test
    void leavesOne(LockManager locks) throws Exception {
      assertThat(locks.tryAcquire("orders", TTL)).isPresent();
    }

    @Test
    void leavesTwo(LockManager locks) throws Exception {
      assertThat(locks.acquire("a", TTL).isHeld()).isTrue();
      assertThat(locks.tryAcquireAsync(LockRequest.of("b", TTL)).get(10, TimeUnit.SECONDS))
          .isPresent();
    }

    @Test
    void leavesALostOne(LockManager locks, ManualClock clock) throws Exception {
      assertThat(locks.acquire("orders", TTL).isHeld()).isTrue();
      clock.advance(TTL);
    }

    @Test
    void leavesOneThatIsClosedWithItsManager(LockManager locks) throws Exception {
      assertThat(locks.acquire("orders", TTL).isHeld()).isTrue();
      locks.close();
    }
  }

  @Test
  void aTestThatLeavesALeaseOpenFailsAndSaysWhereItWasAcquired() {
    Outcome outcome = Outcome.of(OpenLeaseTests.class);
    assertThat(outcome.passed())
        .containsExactlyInAnyOrder("leavesALostOne", "leavesOneThatIsClosedWithItsManager");
    assertThat(outcome.failures()).hasSize(2);
    assertThat(outcome.failures().get(nameOf(outcome, "leavesOne")))
        .contains("1 lease was left open")
        .contains("try-with-resources")
        .containsPattern("'orders' is held for another (29|30)\\.\\d{3} s, acquired by thread ")
        .contains("com.example.HoldfastExtensionTest$OpenLeaseTests.leavesOne(")
        .contains("HoldfastExtensionTest.java:");
    assertThat(outcome.failures().get(nameOf(outcome, "leavesTwo")))
        .contains("2 leases were left open")
        .contains("\n  'a' is held")
        .contains("\n  'b' is held");
  }

  @ExtendWith(HoldfastExtension.class)
  static class FailingTests {
    @Test
    void fails(LockManager locks, MemoryStore store, ManualClock clock) throws Exception {
      assertThat(locks.acquire("lost", Duration.ofSeconds(1)).isHeld()).isTrue();
      assertThat(locks.acquire("released", TTL).release()).isTrue();
      clock.advance(Duration.ofSeconds(1));
      store.steal("taken", TTL);
      assertThat(locks.tryAcquire("taken", TTL)).isEmpty();
      assertThat(locks.tryAcquireAsync(LockRequest.of("waited", TTL).ownerLabel("me")).get())
          .isPresent();
      assertThat(locks.tryAcquireAsync(LockRequest.of("waited", TTL).waitForever())).isNotDone();
      throw new IllegalStateException("of the test");
    }

    @Test
    void asksForNoLock() {
      throw new IllegalStateException("without locks");
    }
  }

  @Test
  void aFailureShowsWhoHeldWhatAndWhoWaited() {
    Outcome outcome = Outcome.of(FailingTests.class);
    assertThat(outcome.failures().get(nameOf(outcome, "fails")))
        .startsWith("java.lang.IllegalStateException: of the test")
        .contains("'lost' was lost (EXPIRED), acquired by thread ")
        .contains("'released' was released, acquired by thread ")
        .contains("'waited' is held for another ")
        .contains("'waited' is waited for by thread ")
        .contains("'taken' is held by another owner, 'stolen'")
        .doesNotContain("left open");
    assertThat(outcome.failures().get(nameOf(outcome, "asksForNoLock")))
        .doesNotContain("LocksAtFailure");
  }

  @ExtendWith(HoldfastExtension.class)
  static class ThrowingMethods {
    @BeforeEach
    void acquire(LockManager locks) throws Exception {
      assertThat(locks.acquire("before", TTL).isHeld()).isTrue();
      throw new IllegalStateException("before");
    }

    @Test
    void isNotRun() {}

    @AfterEach
    void fail() {
      throw new IllegalStateException("after");
    }
  }

  @Test
  void methodsBeforeAndAfterATestThatThrowShowTheLocksToo() {
    Outcome outcome = Outcome.of(ThrowingMethods.class);
    assertThat(outcome.failures().get("isNotRun"))
        .startsWith("java.lang.IllegalStateException: before")
        .contains("'before' is held")
        .contains("IllegalStateException: after");
  }

  @ExtendWith(HoldfastExtension.class)
  static class FreshTests {
    static final Set<LockManager> MANAGERS = new HashSet<>();

    private final LockManager ofConstructor;

    FreshTests(LockManager locks) {
      ofConstructor = locks;
    }

    @BeforeEach
    void compare(LockManager locks) {
      assertThat(locks).isSameAs(ofConstructor);
    }

    @RepeatedTest(3)
    void hasAManagerOfItsOwn(LockManager locks) throws Exception {
      assertThat(locks).isSameAs(ofConstructor);
      assertThat(MANAGERS.add(locks)).isTrue();
    }

    @Nested
    class Inner {
      @BeforeEach
      void compareInner(LockManager locks) {
        assertThat(locks).isSameAs(ofConstructor);
      }

      @Test
      void hasAManagerOfItsOwn(LockManager locks) {
        assertThat(MANAGERS.add(locks)).isTrue();
      }
    }
  }

  @Test
  void allPartsOfATestShareItsManagerAndNoTestThatOfAnother() {
    Outcome outcome = Outcome.of(FreshTests.class);
    assertThat(outcome.failures()).isEmpty();
    assertThat(outcome.passed()).hasSize(4);
    assertThat(FreshTests.MANAGERS)
        .hasSize(4)
        .allSatisfy(
            manager ->
                assertThatThrownBy(() -> manager.tryAcquire("x", TTL))
                    .hasMessageContaining("closed"));
  }

  @ExtendWith(HoldfastExtension.class)
  @TestInstance(TestInstance.Lifecycle.PER_CLASS)
  static class PerClassTests {
    private final LockManager locks;
    private final Lease lease;

    PerClassTests(LockManager locks) throws Exception {
      this.locks = locks;
      lease = locks.acquire("of-the-class", TTL);
    }

    @RepeatedTest(2)
    void sharesTheManager(LockManager same) {
      assertThat(same).isSameAs(locks);
      assertThat(lease.isHeld()).isTrue();
    }

    @Nested
    class Inner {
      @Test
      void sharesTheManager(LockManager same) {
        assertThat(same).isSameAs(locks);
        assertThat(lease.isHeld()).isTrue();
      }
    }
  }

  @Test
  void aManagerOfAClassServesAllItsTestsAndIsCheckedAfterThem() {
    Outcome outcome = Outcome.of(PerClassTests.class);
    assertThat(outcome.passed()).hasSize(3);
    assertThat(outcome.failures()).hasSize(1);
    assertThat(outcome.failures().values().iterator().next())
        .contains("1 lease was left open")
        .contains("'of-the-class' is held");
  }

  @ExtendWith(HoldfastExtension.class)
  static class BeforeAllTests {
    private static LockManager shared;

    @BeforeAll
    static void open(LockManager locks) {
      shared = locks;
    }

    @RepeatedTest(2)
    void sharesTheManager(LockManager same) {
      assertThat(same).isSameAs(shared);
    }
  }

  @Test
  void aManagerOfAMethodBeforeAllTestsServesTheClass() {
    Outcome outcome = Outcome.of(BeforeAllTests.class);
    assertThat(outcome.failures()).isEmpty();
    assertThat(outcome.passed()).hasSize(2);
  }

  @ExtendWith(HoldfastExtension.class)
  static class ParallelTests {
    static final CyclicBarrier ALL_HOLD = new CyclicBarrier(4);

    @RepeatedTest(4)
    void holdsTheSameName(LockManager locks)
        throws InterruptedException, BrokenBarrierException, TimeoutException {
      try (Lease lease = locks.acquire("same", TTL)) {
        assertThat(ALL_HOLD.await(30, TimeUnit.SECONDS)).isNotNegative();
        lease.requireHeld();
      }
    }
  }

  @Test
  void testsThatRunInParallelDoNotMeet() {
    Outcome outcome =
        Outcome.of(
            ParallelTests.class,
            Map.of(
                "junit.jupiter.execution.parallel.enabled", "true",
                "junit.jupiter.execution.parallel.mode.default", "concurrent",
                "junit.jupiter.execution.parallel.config.strategy", "fixed",
                "junit.jupiter.execution.parallel.config.fixed.parallelism", "4"));
    assertThat(outcome.failures()).isEmpty();
    assertThat(outcome.passed()).hasSize(4);
  }

  static class UrlTests {
    @RegisterExtension
    static final HoldfastExtension LOCKS = HoldfastExtension.withUrl("memory:?owner=alice");

    @Test
    void hasTheOptionsOfTheUrl(LockManager locks) throws Exception {
      try (Lease lease = locks.acquire("x", TTL)) {
        assertThat(lease.token()).startsWith("alice:");
      }
    }

    @Test
    void hasItsStore(MemoryStore store) {
      assertThat(store.holder("x")).isEmpty();
    }

    @Test
    void hasNoManualClock(ManualClock clock) {}
  }

  @Test
  void aUrlOpensTheManagerAndAPartThatItDoesNotHaveIsNamed() {
    Outcome outcome = Outcome.of(UrlTests.class);
    assertThat(outcome.passed()).containsExactlyInAnyOrder("hasTheOptionsOfTheUrl", "hasItsStore");
    assertThat(outcome.failures().values().iterator().next())
        .contains("has no ManualClock")
        .contains("remove the parameter");
  }

  static class OwnManagerTests {
    static final ManualClock CLOCK = new ManualClock();

    @RegisterExtension
    static final HoldfastExtension LOCKS =
        HoldfastExtension.with(() -> MemoryLocks.builder().clock(CLOCK).open());

    @Test
    void standsOnThatClock(LockManager locks, ManualClock clock) throws Exception {
      assertThat(clock).isSameAs(CLOCK);
      Lease lease = locks.acquire("x", TTL);
      clock.advance(TTL);
      assertThat(lease.onLoss()).isCompletedWithValue(LossReason.EXPIRED);
    }
  }

  static class BrokenOpenerTests {
    @RegisterExtension
    static final HoldfastExtension LOCKS =
        HoldfastExtension.with(
            () -> {
              throw new IllegalStateException("of the opener");
            });

    @Test
    void isNotRun(LockManager locks) {}
  }

  @Test
  void managersOfUsersAreOpenedAndAnOpenerThatThrowsFailsTheTest() {
    assertThat(Outcome.of(OwnManagerTests.class).failures()).isEmpty();
    Outcome broken = Outcome.of(BrokenOpenerTests.class);
    assertThat(broken.passed()).isEmpty();
    assertThat(broken.failures().values().iterator().next()).contains("of the opener");
  }

  @ExtendWith(HoldfastExtension.class)
  static class CancelledTests {
    @Test
    void leavesNothingOfARequestThatIsCancelled(LockManager locks) throws Exception {
      Lease lease = locks.acquire("x", TTL);
      CompletableFuture<Optional<Lease>> waiting =
          locks.tryAcquireAsync(LockRequest.of("x", TTL).waitForever());
      assertThat(waiting.cancel(false)).isTrue();
      assertThat(lease.release()).isTrue();
      Optional<Lease> next = locks.tryAcquire("x", TTL);
      assertThat(next).as("the cancelled waiter has left the queue").isPresent();
      next.orElseThrow().close();
    }
  }

  @Test
  void aRequestThatIsCancelledLeavesNothing() {
    assertThat(Outcome.of(CancelledTests.class).failures()).isEmpty();
  }

  private static String nameOf(Outcome outcome, String test) {
    return outcome.failures().keySet().stream()
        .filter(name -> name.matches(test + "(\\(.*)?"))
        .findFirst()
        .orElseThrow(() -> new AssertionError(test + " did not fail: " + outcome));
  }
}
