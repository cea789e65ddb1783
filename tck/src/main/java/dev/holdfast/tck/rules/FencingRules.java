package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckClock;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each grant has a number above those before it, by which storage tells a late holder. */
public abstract class FencingRules {
  /** Enough for tokens that are drawn some time before their grants to come out of order. */
  private static final Duration CONTENTION = Duration.ofMillis(1_200);

  private static final int MAX_GRANTS = 1_500;

  private static final int WAITERS = 8;

  final TckFixture fixture;

  public FencingRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that the counter is kept beside the lock, and survives its end")
  void fencingTokensIncreaseFromGrantToGrantOfAllManagers() {
    String name = fixture.name("fenced");
    LockManager[] managers = {fixture.open(), fixture.open()};
    List<Long> tokens = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      Lease lease = fixture.take(managers[i % 2], name, fixture.ttl());
      tokens.add(lease.fencingToken().orElseThrow());
      Attempts.release(fixture, lease);
    }

    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that the counter survives a forced release and an expiry")
  void fencingTokensIncreaseHoweverTheGrantBeforeEnded() {
    Needs.of(fixture, LockCapability.FORCE_RELEASE);
    String name = fixture.name("fenced");
    LockManager locks = fixture.open();
    LockManager brief = fixture.openForShortTtl();
    List<Long> tokens = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      tokens.add(fixture.take(locks, name, fixture.ttl()).fencingToken().orElseThrow());
      TckFixture.regardless(() -> locks.forceRelease(name));
      needsFree(name);
      tokens.add(fixture.take(brief, name, fixture.briefTtl()).fencingToken().orElseThrow());
      needsFree(name);
    }

    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that the counter survives an expiry after which other names are used")
  void fencingTokensIncreaseThoughOtherNamesWereUsedSinceTheExpiry() {
    LockManager locks = fixture.openForShortTtl();
    String name = fixture.name("fenced");
    Lease expired = fixture.take(locks, name, fixture.briefTtl());
    fixture.awaitOver(expired);
    fixture.awaitPast(System.nanoTime(), fixture.briefTtl()); // so that its key has expired, too
    for (int i = 0; i < 3; i++) {
      Lease other = fixture.take(locks, fixture.name("other"), fixture.ttl());
      TckFixture.regardless(other::release);
    }

    assertThat(fixture.take(locks, name, fixture.ttl()).fencingToken().orElseThrow())
        .isGreaterThan(expired.fencingToken().orElseThrow());
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails(
      "check that an adoption draws a number of its own, above which the next grant goes on")
  void fencingTokensIncreaseOverAdoptions() {
    Needs.of(fixture, LockCapability.TRANSFER);
    String name = fixture.name("fenced");
    LockManager[] managers = {fixture.open(), fixture.open()};
    List<Long> tokens = new ArrayList<>();
    for (Adopting way : Adopting.values()) {
      for (LockManager locks : managers) {
        Lease lease = OnNodes.take(fixture, managers[0], name, fixture.ttl());
        tokens.add(lease.fencingToken().orElseThrow());
        String text = TransferredLock.text(fixture, lease, fixture.ttl());
        Lease adopted = way.adoptOrSkip(fixture, locks, text, fixture.request(name));
        tokens.add(adopted.fencingToken().orElseThrow());
        Attempts.release(fixture, adopted);
      }
    }

    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  private void needsFree(String name) {
    try {
      Attempts.awaitFree(fixture, name);
    } catch (AssertionError e) {
      IgnoredFailures.add(e);
      AnotherRule.isBroken("a lock that was removed or has expired is not free");
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that a token is drawn when the lock is granted, not before it is asked for")
  void fencingTokensIncreaseUnderContention() throws InterruptedException {
    String name = fixture.name("fenced");
    List<Long> tokens = new ArrayList<>();
    AtomicInteger granted = new AtomicInteger();
    long begun = System.nanoTime();
    try (Workers workers = new Workers()) {
      for (int worker = 0; worker < 8; worker++) {
        LockManager locks = fixture.open();
        workers.start(
            () -> {
              while (granted.get() < MAX_GRANTS && Elapsed.since(begun).compareTo(CONTENTION) < 0) {
                Optional<Lease> lease = attempt(locks, name);
                lease.ifPresent(
                    held -> {
                      synchronized (tokens) {
                        // a stalled holder says nothing of the order
                        if (held.isHeld()) {
                          tokens.add(held.fencingToken().orElseThrow());
                        }
                      }
                      granted.incrementAndGet();
                      TckFixture.regardless(held::release);
                    });
              }
            });
      }
      workers.join();
    }

    assertThat(tokens).as("tokens in the order of their grants").isSorted();
    assertThat(tokens).doesNotHaveDuplicates();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails(
      "check that a waiter's token is drawn when it is granted, not when it begins to wait")
  void fencingTokensIncreaseAlongALineOfWaiters() throws InterruptedException {
    String name = fixture.name("fenced");
    Contender contender = Contender.holding(fixture, name);
    LockManager[] managers = {fixture.open(), fixture.open()};
    List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
    List<CompletableFuture<?>> waiters = new ArrayList<>();
    for (int i = 0; i < WAITERS; i++) {
      waiters.add(
          managers[i % 2]
              .tryAcquireAsync(fixture.request(name).waitForever())
              .thenAccept(
                  lease -> {
                    tokens.add(lease.orElseThrow().fencingToken().orElseThrow());
                    TckFixture.regardless(lease.get()::release);
                  }));
    }

    contender.letGo();

    fixture.awaitRegardless(
        "each waiter is served", () -> waiters.stream().allMatch(CompletableFuture::isDone));
    if (tokens.size() < WAITERS) {
      AnotherRule.isBroken("a waiter is not served");
    }
    assertThat(List.copyOf(tokens)).as("tokens in the order of their grants").isSorted();
    assertThat(List.copyOf(tokens)).doesNotHaveDuplicates();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that a token is known to a quorum before the lock is granted")
  void fencingTokensIncreaseWhicheverNodesGrant() {
    Needs.nodes(fixture, 3);
    String name = fixture.name("fenced");
    LockManager[] managers = {fixture.open(), fixture.open()};
    List<Long> tokens = new ArrayList<>();
    for (List<TckNode> granting : Subsets.of(fixture.nodes())) {
      if (granting.size() == fixture.quorum()) {
        OnNodes.occupy(fixture, fixture.nodesBut(granting), name);
        Lease lease = fixture.take(managers[tokens.size() % 2], name, fixture.ttl());
        tokens.add(lease.fencingToken().orElseThrow());
        Attempts.release(fixture, lease);
      }
    }

    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that fencing tokens do not follow the wall clock back")
  void fencingTokensIncreaseThoughTheClockIsSetBack() {
    TckClock clock = Needs.clock(fixture);
    String name = fixture.name("fenced");
    Lease before = fixture.take(fixture.open(), name, fixture.ttl());
    long token = before.fencingToken().orElseThrow();
    Attempts.release(fixture, before);

    clock.step(Duration.ofHours(-1));

    Lease after = fixture.take(fixture.open(), name, fixture.ttl());
    assertThat(after.fencingToken().orElseThrow()).isGreaterThan(token);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that the largest number of a quorum is stored by a quorum before the grant")
  void fencingTokensIncreaseWhicheverNodesGrantThoughTheClockIsSetBack() {
    Needs.nodes(fixture, 3);
    TckClock clock = Needs.clock(fixture);
    String name = fixture.name("fenced");
    List<Long> tokens = new ArrayList<>();
    for (List<TckNode> granting : Subsets.of(fixture.nodes())) {
      if (granting.size() == fixture.quorum()) {
        OnNodes.occupy(fixture, fixture.nodesBut(granting), name);
        Lease lease =
            fixture.take(fixture.open(), name, fixture.ttl()); // which has seen no token yet
        tokens.add(lease.fencingToken().orElseThrow());
        Attempts.release(fixture, lease);
        clock.step(Duration.ofHours(tokens.size() == 1 ? -1 : 0));
      }
    }

    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  private Optional<Lease> attempt(LockManager locks, String name) throws InterruptedException {
    try {
      return locks.tryAcquire(name, fixture.ttl());
    } catch (LockException contendedOrSlow) {
      IgnoredFailures.add(contendedOrSlow);
      return Optional.empty();
    }
  }
}
