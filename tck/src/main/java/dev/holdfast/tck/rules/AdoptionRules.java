package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LossReason;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One adoption of a text gets the transferred lock, and no other. */
public abstract class AdoptionRules {
  private static final String IMPATIENT = "nodeTimeout=200ms";
  private static final Duration SILENCE = Duration.ofMillis(300);

  /** So short that its allowance for drift, 1 %, is far below the silence. */
  private static final Duration TTL_OF_SLOW = Duration.ofSeconds(5);

  /** Enough for two adoptions to meet at a node that looks first and replaces then. */
  private static final Duration RACES = Duration.ofMillis(1_500);

  private static final int MAX_TRIES = 3;

  final TckFixture fixture;

  public AdoptionRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-4")
  @IfThisFails("check that an adoption needs a quorum of nodes that hold the transferred token")
  void anyQuorumOfTheTransferredTokenIsAdopted() {
    Needs.nodes(fixture, 3);
    for (List<TckNode> holding : Subsets.of(fixture.nodes())) {
      if (holding.size() == fixture.quorum()) {
        TransferredLock lock = TransferredLock.of(fixture, "quorum");
        OnNodes.occupy(fixture, fixture.nodesBut(holding), lock.name());

        Throwable thrown = catchThrowable(() -> adopt(fixture.open("nodeTimeout=5s"), lock));

        assertThat(thrown).as("exception of an adoption by %s", addresses(holding)).isNull();
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-4")
  @IfThisFails("check that a node replaces the transferred token alone, in one step")
  void otherOwnersAreLeftAlone() {
    Needs.nodes(fixture, 1);
    TransferredLock lock = TransferredLock.of(fixture, "occupied");
    OnNodes.occupy(fixture, fixture.blocking(), lock.name());

    Throwable thrown = catchThrowable(() -> adopt(fixture.open(), lock));

    assertThat(thrown).as("without a quorum of the transferred token").isNotNull();
    assertThat(fixture.blocking())
        .as("nodes with another owner")
        .allMatch(node -> OnNodes.isUntouched(fixture, node, lock.name()));
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-4")
  @IfThisFails("check that a node without the key does not count for an adoption")
  void nodesWithoutTheKeyDoNotCount() {
    Needs.nodes(fixture, 1);
    TransferredLock lock = TransferredLock.of(fixture, "emptied");
    fixture.blocking().forEach(node -> node.remove(lock.name()));

    Throwable thrown = catchThrowable(() -> adopt(fixture.open(), lock));

    assertThat(thrown).as("adopted by nodes that did not hold it").isNotNull();
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-4")
  @IfThisFails("check that a minority that is down or came back empty stops no adoption")
  void aMinorityWithoutItsDataStopsNoAdoption() {
    Needs.of(fixture, LockCapability.FAULT_TOLERANT);
    Needs.of(fixture, TckFault.DEAD);
    for (TckFault fault : List.of(TckFault.EMPTIED, TckFault.DEAD)) {
      TransferredLock lock = TransferredLock.of(fixture, "minority");
      LockManager adopter = fixture.open();
      Faults.begin(fixture, fault, fixture.minority(), lock.name());

      Throwable thrown = catchThrowable(() -> adopt(adopter, lock));
      Faults.end(fault, fixture.minority(), lock.name());

      assertThat(thrown).as("exception of an adoption, a minority being %s", fault).isNull();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-5")
  @IfThisFails("check that comparing and replacing the token is one step at each node")
  void atMostOneOfSimultaneousAdoptionsGetsTheLock() throws Exception {
    LockManager holder = fixture.open();
    List<LockManager> adopters = List.of(fixture.open(), fixture.open(), fixture.open());
    CyclicBarrier start = new CyclicBarrier(adopters.size());
    long begun = System.nanoTime();
    try (Workers workers = new Workers()) {
      while (Elapsed.since(begun).compareTo(RACES) < 0) {
        Lease lease = fixture.take(holder, fixture.request(fixture.name("race")));
        String text = TransferredLock.text(fixture, lease, fixture.ttl());
        TransferredLock lock = new TransferredLock(lease.name(), lease.token(), text);
        Queue<Lease> adopted = new ConcurrentLinkedQueue<>();
        for (LockManager adopter : adopters) {
          workers.start(
              () -> {
                start.await();
                adoptedOrEmpty(adopter, lock).ifPresent(adopted::add);
              });
        }
        workers.join();

        assertThat(adopted).as("leases from one text").hasSizeLessThan(2);
        adopted.forEach(one -> TckFixture.regardless(one::release));
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-5")
  @IfThisFails("check that comparing and replacing the token is one step at each node")
  void nothingComesBetweenComparingAndReplacing() {
    Needs.of(fixture, TckFault.FROZEN);
    List<LockManager> adopters = List.of(fixture.open(), fixture.open());
    TransferredLock lock = TransferredLock.of(fixture, "in-between");
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), lock.name());
    List<CompletableFuture<Lease>> adoptions =
        adopters.stream()
            .map(locks -> locks.adoptAsync(lock.text(), fixture.request(lock.name())))
            .toList();
    fixture.awaitPast(System.nanoTime(), SILENCE);

    Faults.end(TckFault.FROZEN, fixture.nodes(), lock.name());
    fixture.awaitRegardless(
        "both are answered", () -> adoptions.stream().allMatch(CompletableFuture::isDone));

    assertThat(adoptions)
        .as("adoptions that got the lock")
        .filteredOn(one -> one.isDone() && !one.isCompletedExceptionally())
        .hasSizeLessThan(2);
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-5")
  @IfThisFails("check that a text is used up by its first adoption, also after the release")
  void aTextServesOneAdoption() {
    LockManager first = fixture.open();
    LockManager second = fixture.open();
    TransferredLock lock = TransferredLock.of(fixture, "twice");
    Lease adopted = lock.adoptedOrSkipped(fixture, first);

    assertThat(adoptedOrEmpty(second, lock)).as("adopted while it is held").isEmpty();
    assertThat(adoptedOrEmpty(first, lock)).as("adopted again by its holder").isEmpty();
    if (!adopted.isHeld()) {
      AnotherRule.isBroken("an adopted lease is not held");
    }
    Attempts.release(fixture, adopted);
    assertThat(adoptedOrEmpty(second, lock)).as("adopted after the release").isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-6")
  @IfThisFails("check that an adoption draws a token and a fencing token of its own")
  void anAdoptionIsAGrantOfItsOwn() {
    LockManager locks = fixture.open();
    Lease lease = OnNodes.take(fixture, locks, fixture.request(fixture.name("own")));
    String text = TransferredLock.text(fixture, lease, fixture.ttl());
    Lease adopted = TransferredLock.adoptedOrSkipped(fixture, fixture.open(), text, lease.name());

    assertThat(adopted.name()).isEqualTo(lease.name());
    assertThat(adopted.token()).isNotEqualTo(lease.token());
    if (fixture.declares(LockCapability.FENCING_TOKEN)) {
      assertThat(adopted.fencingToken().orElseThrow())
          .isGreaterThan(lease.fencingToken().orElseThrow());
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-6")
  @IfThisFails("check that an adopted lock shows the owner label of its own request")
  void anAdoptedLockHasTheLabelOfItsRequest() {
    Needs.of(fixture, LockCapability.INSPECTION);
    LockManager locks = fixture.open();
    String label = "Nachfolger №2, größer 🔒";
    LockRequest former = fixture.request(fixture.name("label")).ownerLabel("former");
    String text =
        TransferredLock.text(fixture, OnNodes.take(fixture, locks, former), fixture.ttl());

    Lease adopted =
        fixture.soon().get("it is adopted", locks.adoptAsync(text, former.ownerLabel(label)));

    assertThat(locks.inspect(adopted.name()).map(LockStatus::ownerLabel)).contains(label);
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-6")
  @IfThisFails("check that an adopted lock has the ttl of its own request, and not of the text")
  void anAdoptionHasTheTtlOfItsRequest() {
    Duration ttl = fixture.ttl().dividedBy(3); // less than that of the text
    TransferredLock lock = TransferredLock.of(fixture, "ttl");

    Lease adopted =
        fixture
            .soon()
            .get(
                "it is adopted",
                fixture.open().adoptAsync(lock.text(), LockRequest.of(lock.name(), ttl)));

    assertThat(adopted.remaining()).as("remaining()").isLessThanOrEqualTo(ttl);
    assertThat(fixture.nodes())
        .as("nodes that keep the lock for longer than the adopter asked for")
        .noneMatch(
            node ->
                node.holder(lock.name()).equals(Optional.of(adopted.token()))
                    && node.timeToLive(lock.name()).compareTo(ttl) > 0);
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-6")
  @IfThisFails("check that both ways to adopt pass holdAtLeast of the request on")
  void anAdoptedLockIsHeldAtLeastAsLongAsItsRequestSays() throws InterruptedException {
    Needs.of(fixture, LockCapability.HOLD_AT_LEAST);
    LockManager locks = fixture.open();
    for (Adopting way : Adopting.values()) {
      TransferredLock lock = TransferredLock.of(fixture, "at-least");
      LockRequest request = fixture.request(lock.name()).holdAtLeast(fixture.ttl());
      Lease adopted = way.adopt(fixture, locks, lock.text(), request);

      TckFixture.regardless(adopted::release);

      assertThat(fixture.gets(fixture.open(), lock.name()))
          .as("got by another after the release of a lock by %s", way)
          .isFalse();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-6")
  @IfThisFails("check that both ways to adopt pass keepAliveUpTo of the request on")
  void anAdoptedLockIsRenewedIfItsRequestSaysSo() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    LockManager locks = fixture.open();
    List<Lease> adopted = new ArrayList<>();
    for (Adopting way : Adopting.values()) {
      TransferredLock lock = TransferredLock.of(fixture, "kept");
      LockRequest request =
          LockRequest.of(lock.name(), Renewals.TTL).keepAliveUpTo(Duration.ofHours(1));
      adopted.add(way.adopt(fixture, locks, lock.text(), request));
    }

    Renewals.await(fixture, adopted);
    assertThat(adopted).as("leases of adoptions").allMatch(Lease::isHeld);
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-6")
  @IfThisFails("check that an adoption's validity counts from before its first message")
  void theTimeThatNodesTakeToAnswerAnAdoptionIsSpent() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open();

    Retries.anyOf(
        () -> {
          TransferredLock lock = TransferredLock.of(fixture, "slow");
          Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), lock.name());
          long begun = System.nanoTime();
          CompletableFuture<Lease> adoption =
              locks.adoptAsync(lock.text(), LockRequest.of(lock.name(), TTL_OF_SLOW));
          fixture.awaitPast(begun, SILENCE);
          Faults.end(TckFault.FROZEN, fixture.nodes(), lock.name());
          fixture.awaitRegardless("it is answered", adoption::isDone);
          if (!adoption.isDone() || adoption.isCompletedExceptionally()) {
            AnotherRule.isBroken("an adoption that is answered late fails");
          }

          Duration remaining = adoption.join().remaining();
          assertThat(remaining.plus(Elapsed.since(begun)).minus(TTL_OF_SLOW))
              .as("by how much an adoption that took %s outlasts its ttl", SILENCE)
              .isLessThan(SILENCE.dividedBy(3));
        });
  }

  @Test
  @Rule("TRANSFER-7")
  @IfThisFails("check that an adoption that fails releases its own token and the transferred one")
  void anAdoptionThatFailsLeavesNothingBehind() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(IMPATIENT);

    Retries.anyOf(
        () -> {
          TransferredLock lock = TransferredLock.of(fixture, "outage");
          Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), lock.name());
          Throwable thrown = catchThrowable(() -> adopt(locks, lock));
          Faults.end(TckFault.FROZEN, fixture.blocking(), lock.name());
          if (thrown == null) {
            AnotherRule.isBroken("an adoption succeeds without a quorum of answers");
          }

          OnNodes.awaitFree(fixture, lock.name());
        });
  }

  @Test
  @Rule("TRANSFER-7")
  @IfThisFails("check that an adoption that fails releases the transferred token on every node")
  void anAdoptionThatNodesCannotCarryOutLeavesNothingBehind() {
    Needs.of(fixture, TckFault.REFUSING);
    TransferredLock lock = TransferredLock.of(fixture, "refusing");
    LockManager locks = fixture.open();
    Faults.begin(fixture, TckFault.REFUSING, fixture.blocking(), lock.name());

    Throwable thrown = catchThrowable(() -> adopt(locks, lock));
    Faults.end(TckFault.REFUSING, fixture.blocking(), lock.name());
    if (thrown == null) {
      AnotherRule.isBroken("an adoption succeeds without a quorum of answers");
    }

    OnNodes.awaitFree(fixture, lock.name());
  }

  @Test
  @Rule("TRANSFER-7")
  @IfThisFails("check that an adoption that is refused by some nodes releases all others")
  void anAdoptionThatFindsTooFewNodesLeavesNothingBehind() {
    Needs.nodes(fixture, 3);
    TransferredLock lock = TransferredLock.of(fixture, "too-few");
    List<TckNode> others = fixture.nodesBut(fixture.blocking());
    fixture.blocking().forEach(node -> node.remove(lock.name()));
    if (catchThrowable(() -> adopt(fixture.open(), lock)) == null) {
      AnotherRule.isBroken("an adoption succeeds without a quorum of the transferred token");
    }

    fixture.soon().until("nothing is left", () -> OnNodes.isFree(others, lock.name()));
  }

  @Test
  @Rule("TRANSFER-8")
  @IfThisFails("check that an adoption that comes too late reports a loss")
  void anAdoptionAfterTheEndIsALoss() {
    OnNodes.needsExpiry(fixture);
    Lease lease = fixture.take(fixture.open(), fixture.request(fixture.name("late")));
    TransferredLock lock =
        new TransferredLock(
            lease.name(), lease.token(), TransferredLock.text(fixture, lease, fixture.ttl()));
    TckFixture.regardless(() -> fixture.open().forceRelease(lease.name()));
    if (!fixture.declares(LockCapability.FORCE_RELEASE)) {
      AnotherRule.isBroken("there is no way to end a transfer soon");
    }
    Attempts.awaitFree(fixture, lease.name());

    LockLostException lost =
        catchThrowableOfType(LockLostException.class, () -> adopt(fixture.open(), lock));

    assertThat(lost).as("the end of an adoption that came too late").isNotNull();
    assertThat(lost.reason()).isIn(LossReason.REMOVED, LossReason.EXPIRED);
    assertThat(lost).hasMessageContaining(lock.name());
  }

  @Test
  @Rule("TRANSFER-8")
  @IfThisFails("check that an adoption that finds another owner reports TAKEN")
  void anAdoptionThatFindsAnotherOwnerIsTaken() {
    Needs.nodes(fixture, 1);
    TransferredLock lock = TransferredLock.of(fixture, "taken");
    OnNodes.occupy(fixture, fixture.nodes(), lock.name());

    LockLostException lost =
        catchThrowableOfType(LockLostException.class, () -> adopt(fixture.open(), lock));

    assertThat(lost).as("the end of an adoption of another owner's lock").isNotNull();
    assertThat(lost.reason()).isEqualTo(LossReason.TAKEN);
  }

  @Test
  @Rule("TRANSFER-8")
  @IfThisFails(
      "check that a later adoption looks at the nodes, and finds the first adopter's token")
  void anAdoptionThatFindsTheFirstAdopterIsTaken() {
    LockManager holder = fixture.open();
    LockManager first = fixture.open();
    Lease lease = OnNodes.take(fixture, holder, fixture.request(fixture.name("adopted")));
    String text = TransferredLock.text(fixture, lease, fixture.ttl());
    Lease adopted = TransferredLock.adoptedOrSkipped(fixture, first, text, lease.name());

    for (LockManager locks : List.of(fixture.open(), first, holder)) {
      for (Adopting way : Adopting.values()) {
        Throwable thrown = endOfAdoption(locks, text, lease.name(), way);
        if (!adopted.isHeld()) {
          AnotherRule.isBroken("an adopted lease is not held");
        }

        assertThat(thrown)
            .as("the end of an adoption of a lock that was adopted before")
            .isInstanceOfSatisfying(
                LockLostException.class,
                lost -> assertThat(lost.reason()).isEqualTo(LossReason.TAKEN));
      }
    }
  }

  @Test
  @Rule("TRANSFER-8")
  @IfThisFails("check that an adoption finds the lock of a later owner, also after an adoption")
  void anAdoptionThatFindsALaterOwnerIsTaken() {
    LockManager locks = fixture.open();
    Lease lease = OnNodes.take(fixture, locks, fixture.request(fixture.name("later")));
    String text = TransferredLock.text(fixture, lease, fixture.ttl());
    Lease adopted = TransferredLock.adoptedOrSkipped(fixture, locks, text, lease.name());
    Attempts.release(fixture, adopted);
    Attempts.awaitFree(fixture, lease.name());

    Throwable free = endOfAdoption(locks, text, lease.name(), Adopting.ADOPT);
    Attempts.untilGot(fixture, fixture.open(), lease.name());
    Throwable taken = endOfAdoption(locks, text, lease.name(), Adopting.ADOPT);

    assertThat(reasonOf(free)).isIn(LossReason.REMOVED, LossReason.EXPIRED);
    assertThat(reasonOf(taken)).isEqualTo(LossReason.TAKEN);
  }

  private static LossReason reasonOf(Throwable thrown) {
    assertThat(thrown).isInstanceOf(LockLostException.class);
    return ((LockLostException) thrown).reason();
  }

  /** Returns how an adoption of a used text ends. An outage of a machine that stalls is no end. */
  private Throwable endOfAdoption(LockManager locks, String text, String name, Adopting way) {
    for (int i = 1; i < MAX_TRIES; i++) {
      Throwable thrown = thrownBy(locks, text, name, way);
      if (!(thrown instanceof LockOutageException)) {
        return thrown;
      }
      IgnoredFailures.add(thrown);
    }
    return thrownBy(locks, text, name, way);
  }

  private Throwable thrownBy(LockManager locks, String text, String name, Adopting way) {
    return catchThrowable(() -> way.adopt(fixture, locks, text, fixture.request(name)));
  }

  @Test
  @Rule("TRANSFER-8")
  @IfThisFails("check that an adoption that no quorum answers is an outage, and no loss")
  void anAdoptionThatNoNodeAnswersIsAnOutage() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(IMPATIENT);
    TransferredLock lock = TransferredLock.of(fixture, "silent");
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), lock.name());

    Throwable thrown = catchThrowable(() -> adopt(locks, lock));
    Faults.end(TckFault.FROZEN, fixture.nodes(), lock.name());

    assertThat(thrown).isInstanceOf(LockOutageException.class);
  }

  @Test
  @Rule("TRANSFER-9")
  @IfThisFails("check that a text is verified, with nodes and keyPrefix, before any node is asked")
  void aDamagedTextIsRefusedAndStaysUsable() {
    LockManager locks = fixture.open();
    List<LockManager> elsewhere = withOtherNodesOrKeys();
    TransferredLock lock = TransferredLock.of(fixture, "damaged");
    String text = lock.text();
    List<String> damaged =
        new ArrayList<>(List.of("", "x", text + "A", text.toLowerCase(Locale.ROOT)));
    IntStream.range(0, text.length())
        .filter(i -> i % 7 == 0)
        .forEach(i -> damaged.add(text.substring(0, i) + text.substring(i + 1)));
    for (String additional : List.of("!", "=", " ", "\n")) {
      damaged.add(additional + text);
      damaged.add(
          text.substring(0, text.length() / 2) + additional + text.substring(text.length() / 2));
      damaged.add(text + additional);
    }

    Counts.assertNoneBy(
        fixture,
        () -> {
          for (String one : damaged) {
            assertRefused(locks, one, fixture.request(lock.name()));
          }
          assertRefused(locks, text, fixture.request(fixture.name("another")));
          elsewhere.forEach(other -> assertRefused(other, text, fixture.request(lock.name())));
        });
    assertThat(catchThrowable(() -> adopt(locks, lock)))
        .as("exception of an adoption by the undamaged text")
        .isNull();
  }

  private List<LockManager> withOtherNodesOrKeys() {
    List<LockManager> others = new ArrayList<>();
    if (fixture.environment().url().isPresent()) { // by which an unknown option is refused
      TckFixture.regardless(() -> others.add(ByUrl.open(fixture, "keyPrefix=another:")));
    }
    if (fixture.nodes().size() > 1) {
      others.add(fixture.openOn(fixture.uris().subList(1, fixture.nodes().size())));
    }
    return others;
  }

  @Test
  @Rule("TRANSFER-11")
  @IfThisFails("check that an adopted lock is released whose future was cancelled or completed")
  void anAdoptionThatNoCallerTakesReleasesTheLock() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open();
    TransferredLock cancelled = TransferredLock.of(fixture, "cancelled");
    TransferredLock failed = TransferredLock.of(fixture, "failed");
    TransferredLock timedOut = TransferredLock.of(fixture, "timed-out");
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), cancelled.name());
    CompletableFuture<Lease> late = adopted(locks, timedOut).orTimeout(1, TimeUnit.MILLISECONDS);

    adopted(locks, cancelled).cancel(false);
    adopted(locks, failed).completeExceptionally(new IllegalStateException("given up"));
    fixture.awaitRegardless("a timeout ended a future", late::isDone);
    Faults.end(TckFault.FROZEN, fixture.nodes(), cancelled.name());

    // By getting it: a node that lacked the script when a quorum had adopted was not asked again,
    // and keeps the transferred token until that expires.
    LockManager others = fixture.open();
    for (TransferredLock lock : List.of(cancelled, failed, timedOut)) {
      Attempts.untilGot(fixture, others, lock.name());
    }
  }

  private CompletableFuture<Lease> adopted(LockManager locks, TransferredLock lock) {
    return locks.adoptAsync(lock.text(), fixture.request(lock.name()));
  }

  private static void assertRefused(LockManager locks, String text, LockRequest request) {
    assertThat(catchThrowable(() -> locks.adopt(text, request)))
        .as("the end of an adoption of '%s' by a wrong text", request.name())
        .isInstanceOf(LockConfigurationException.class);
  }

  private Lease adopt(LockManager locks, TransferredLock lock) {
    return locks.adopt(lock.text(), fixture.request(lock.name()));
  }

  private Optional<Lease> adoptedOrEmpty(LockManager locks, TransferredLock lock) {
    try {
      return Optional.of(adopt(locks, lock));
    } catch (LockException notAdopted) {
      return Optional.empty();
    }
  }

  private static List<String> addresses(List<TckNode> nodes) {
    return nodes.stream().map(TckNode::address).toList();
  }
}
