package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.LossReason;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Inspection and forced release by an operator. */
public abstract class InspectionRules {
  /** The time that a test may take between two looks. */
  private static final Duration SLACK = Duration.ofSeconds(10);

  /** A time that is cut or rounded to seconds differs by 999 ms. */
  private static final Duration NEARLY_A_SECOND = Duration.ofMillis(950);

  /** A time that is clearly shorter, because clocks tick in milliseconds. */
  private static final Duration QUICK = Duration.ofMillis(900);

  /** Letters of one to four bytes in UTF-8, and characters that formats and URLs reserve. */
  private static final List<String> LABELS =
      List.of(
          "worker 7",
          "Zürich é",
          "Łódź",
          "東京",
          "lock \ud83d\udd12",
          "e\u0301",
          "a:b:",
          "100 %s {0} \"q\" \\",
          "a=b&c;d,e",
          "n".repeat(99) + "!", // with the rest of the token, more than 128 bytes
          "n".repeat(219) + "!", // the same for 256 bytes
          "n".repeat(255) + "!", // the longest
          "東".repeat(85), // its letters lie across the ends of pieces of a round size
          "n" + "東".repeat(85));

  private static final Duration RACING = Duration.ofMillis(300);
  private static final int MAX_RACES = 3_000;

  final TckFixture fixture;

  public InspectionRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect is empty for a free lock, before a grant and after a release")
  void noHolderIsSeenOfAFreeLock() throws InterruptedException {
    String name = fixture.name("nobody");
    LockManager locks = fixture.open();

    assertThat(locks.inspect(name)).isEmpty();

    Attempts.release(fixture, fixture.take(locks, name, fixture.ttl()));
    fixture.soon().until("the lock was seen to be free", () -> locks.inspect(name).isEmpty());
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect is empty when the time of a lock is over")
  void noHolderIsSeenWhenALockHasExpired() throws InterruptedException {
    OnNodes.needsExpiry(fixture);
    String name = fixture.name("expired");
    LockManager patient = fixture.open();
    fixture.take(fixture.openForShortTtl(), name, fixture.briefTtl());

    fixture.soon().until("the lock was seen to be free", () -> patient.inspect(name).isEmpty());
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check which label is kept with a lock: the request's, else the manager's")
  void theOwnerIsSeenByItsLabel() throws InterruptedException {
    LockManager operator = fixture.open();
    LockManager worker = fixture.open("owner=worker 7");
    String byManager = fixture.name("by-manager");
    String byRequest = fixture.name("by-request");
    String byProcess = fixture.name("by-process");
    fixture.take(worker, byManager, fixture.ttl());
    fixture.take(worker, requestOf(byRequest).ownerLabel("batch: 8"));
    fixture.take(operator, byProcess, fixture.ttl());

    assertThat(seen(operator, byManager).ownerLabel()).isEqualTo("worker 7");
    assertThat(seen(operator, byRequest).ownerLabel()).isEqualTo("batch: 8");
    assertThat(seen(worker, byProcess).ownerLabel())
        .as("host:pid")
        .endsWith(":" + ProcessHandle.current().pid());
    assertThat(seen(worker, byProcess).name()).isEqualTo(byProcess);
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that labels are kept and shown in UTF-8, or another encoding of all letters")
  void theOwnerIsSeenByItsLabelWhateverItsLetters() throws InterruptedException {
    LockManager operator = fixture.open();
    List<String> changed = new ArrayList<>();
    long begun = System.nanoTime();
    for (String label : LABELS) {
      fixture.needsTime(begun, "labels");
      String byManager = fixture.name("by-manager");
      String byRequest = fixture.name("by-request");
      fixture.take(fixture.open("owner=" + label), byManager, fixture.ttl());
      fixture.take(operator, requestOf(byRequest).ownerLabel(label));

      for (String name : List.of(byManager, byRequest)) {
        changed.addAll(shownInsteadOf(label, operator, name));
      }
      assertThat(changed).as("owners as they are shown").isEmpty();
    }
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect shows a lock that holdAtLeast keeps after its release")
  void aLockThatHoldAtLeastKeepsIsSeen() throws InterruptedException {
    LockManager operator = fixture.open();
    Lease lease = takenAtLeast("kept");
    needsReleased(lease);

    assertThat(operator.inspect(lease.name()).map(LockStatus::ownerLabel))
        .as("the owner of a lock that is not free")
        .contains("keeper");
  }

  /** Takes a lock that its release does not free. */
  private Lease takenAtLeast(String end) {
    Needs.of(fixture, LockCapability.HOLD_AT_LEAST);
    LockRequest request = fixture.request(fixture.name(end)).ownerLabel("keeper");
    return fixture.take(fixture.open(), request.holdAtLeast(fixture.ttl()));
  }

  private void needsReleased(Lease lease) throws InterruptedException {
    TckFixture.regardless(lease::release);
    if (fixture.gets(fixture.open(), lease.name())) {
      AnotherRule.isBroken("holdAtLeast keeps no other owner out");
    }
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect shows the remaining time of a lock, not its ttl")
  void theTimeThatIsLeftIsSeenToPass() throws InterruptedException {
    String name = fixture.name("passing");
    LockManager operator = fixture.open();
    fixture.take(fixture.open(), name, fixture.ttl());

    Duration first = seen(operator, name).remaining();

    assertThat(first).isBetween(fixture.ttl().minus(SLACK), fixture.ttl());
    fixture
        .soon()
        .until(
            "less was left",
            () -> seen(operator, name).remaining().compareTo(first.minusMillis(20)) < 0);
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect shows the remaining time in milliseconds, not cut to seconds")
  void theTimeThatIsLeftIsNotCutToSeconds() throws InterruptedException {
    LockManager operator = fixture.open();
    Retries.anyOf( // a machine that stalls lets a second pass
        () -> {
          Duration ttl = Duration.ofMillis(fixture.ttl().toSeconds() * 1_000 + 999);
          LockManager locks = fixture.open();
          long begun = System.nanoTime();
          Lease lease = fixture.take(locks, fixture.name("cut"), ttl);

          Duration left = seen(operator, lease.name()).remaining();

          assertThat(Elapsed.since(begun)).as("so that a try shows it").isLessThan(QUICK);
          assertThat(left).isBetween(ttl.minus(NEARLY_A_SECOND), ttl);
        });
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect shows what an extension added, not the end of the grant")
  void theTimeOfAnExtensionIsSeen() throws InterruptedException {
    Needs.of(fixture, LockCapability.EXTENSION);
    LockManager operator = fixture.open();
    Retries.anyOf( // the lease may end before its extension on a machine that stalls
        () -> {
          Lease lease =
              fixture.take(fixture.openForShortTtl(), fixture.name("extended"), fixture.shortTtl());
          lease.extend(fixture.ttl());

          assertThat(seen(operator, lease.name()).remaining())
              .isBetween(fixture.ttl().minus(SLACK), fixture.ttl());
        });
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect asks all nodes, and counts those that hold this owner's token")
  void theNodesThatAgreeAreCounted() throws InterruptedException {
    Needs.nodes(fixture, 1);
    String name = fixture.name("counted");
    LockManager operator = fixture.open();
    OnNodes.take(fixture, fixture.open(), name, fixture.ttl());

    assertThat(seen(operator, name).votes().nodes()).isEqualTo(fixture.nodes().size());
    assertThat(seen(operator, name).votes().granted()).isEqualTo(fixture.nodes().size());

    for (int missing = 1; missing <= fixture.minority().size(); missing++) {
      fixture.node(missing - 1).remove(name);
      assertThat(seen(operator, name).votes().granted())
          .isEqualTo(fixture.nodes().size() - missing);
    }
    OnNodes.occupy(fixture, fixture.minority(), name);
    assertThat(seen(operator, name).votes().granted())
        .as("others' tokens do not agree")
        .isEqualTo(fixture.quorum());
    assertThat(seen(operator, name).votes().nodes()).isEqualTo(fixture.nodes().size());
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check the result of forceRelease for a lock that is free")
  void forceReleaseOfAFreeLockIsFalse() {
    assertThat(fixture.open().forceRelease(fixture.name("free"))).isFalse();
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check that forceRelease removes a lock that holdAtLeast keeps after its release")
  void forceReleaseFreesALockThatHoldAtLeastKeeps() throws InterruptedException {
    LockManager operator = fixture.open();
    Lease lease = takenAtLeast("forced");
    needsReleased(lease);

    boolean isForced = operator.forceRelease(lease.name());

    assertThat(isForced).as("forceRelease says that there was a lock").isTrue();
    Attempts.awaitFree(fixture, lease.name());
  }

  /** Closes the holder first, because a manager may free its own expired locks. */
  @Test
  @Rule("INSP-2")
  @IfThisFails("check that forceRelease looks at the time of a lock, as an attempt does")
  void forceReleaseOfALockThatHasExpiredIsFalse() {
    LockManager operator = fixture.open();
    LockManager holder = fixture.openForShortTtl();
    Lease lease = fixture.take(holder, fixture.name("expired"), fixture.briefTtl());
    holder.close();
    fixture
        .nodes()
        .forEach(node -> node.holder(lease.name())); // each has done the commands before this one
    fixture.awaitPast(System.nanoTime(), fixture.briefTtl().multipliedBy(2));

    boolean isForced = operator.forceRelease(lease.name());

    if (isForced) {
      OnNodes.needsExpiry(fixture);
    }
    assertThat(isForced).as("a lock that had expired was removed").isFalse();
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check that forceRelease removes the lock from all nodes, whosever it is")
  void forceReleaseFreesTheNameAndSaysSo() throws InterruptedException {
    String name = fixture.name("forced");
    LockManager operator = fixture.open();
    OnNodes.take(fixture, fixture.open(), name, fixture.ttl());

    assertThat(operator.forceRelease(name)).isTrue();

    Attempts.awaitFree(fixture, name);
    assertThat(operator.forceRelease(name)).as("there is nothing left").isFalse();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-10")
  @IfThisFails(
      "check that a lock which was released by force is not ended again at the end of its ttl")
  void theNextOwnersLockOutlivesTheTtlOfALockThatWasReleasedByForce() throws InterruptedException {
    Needs.of(fixture, LockCapability.FORCE_RELEASE);
    LockManager next = fixture.open();
    for (LockManager operator : List.of(fixture.open(), next)) {
      String name = fixture.name("forced");
      LockManager holder = fixture.openForShortTtl();
      fixture.take(holder, name, fixture.briefTtl());
      long begun = System.nanoTime();
      TckFixture.regardless(() -> operator.forceRelease(name));
      Lease lease = fixture.take(next, name, fixture.ttl());

      fixture.awaitPast(begun, fixture.briefTtl().multipliedBy(2));

      assertThat(Attempts.staysTaken(fixture, lease)).as("others are kept out").isTrue();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @IfThisFails("check that an attempt asks the nodes whatever leases the manager has")
  void theFormerHoldersManagerGetsALockThatWasReleasedByForce() throws InterruptedException {
    Needs.of(fixture, LockCapability.FORCE_RELEASE);
    LockManager holder = fixture.open();
    LockManager operator = fixture.open();
    for (int round = 0; round < 10; round++) {
      Retries.anyOf(
          () -> {
            String name = fixture.name("forced");
            OnNodes.take(fixture, holder, name, fixture.ttl());
            if (!operator.forceRelease(name)) {
              AnotherRule.isBroken("forceRelease does not release a lock that is held");
            }
            assertThat(fixture.gets(holder, name))
                .as("the manager of the former holder gets the lock at once")
                .isTrue();
          });
    }
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check that forceRelease answers when it has removed the lock, not before")
  void afterAForcedReleaseThatSaysSoTheNameIsFreeAtOnce() throws InterruptedException {
    LockManager holder = fixture.open();
    LockManager operator = fixture.open();
    LockManager next = fixture.open();
    for (int round = 0; round < 20; round++) {
      String name = fixture.name("forced");
      fixture.take(holder, name, fixture.ttl());
      boolean said = operator.forceRelease(name);

      assertThat(said).as("the lock is held, and forceRelease says so").isTrue();
      assertThat(fixture.gets(next, name) || !fixture.gets(next, fixture.name("control")))
          .as("another manager gets the lock at once")
          .isTrue();
    }
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check that forceRelease reports the result of its own removal, in one atomic step")
  @SuppressWarnings("ThreadPriorityCheck") // nothing relies on it
  void oneOfSimultaneousForcedReleasesSaysThatItRemoved() throws Exception {
    Needs.oneLock(fixture);
    LockManager holder = openOnOne();
    List<LockManager> operators = List.of(openOnOne(), openOnOne(), openOnOne(), openOnOne());
    ExecutorService threads = Executors.newFixedThreadPool(operators.size());
    fixture.atEnd(threads::shutdownNow);
    long begun = System.nanoTime();
    for (int race = 0; race < MAX_RACES && Elapsed.since(begun).compareTo(RACING) < 0; race++) {
      String name = fixture.name("raced");
      fixture.take(holder, name, fixture.ttl());
      AtomicInteger ready = new AtomicInteger();
      List<Future<Boolean>> said = new ArrayList<>();
      for (LockManager operator : operators) {
        said.add(
            threads.submit(
                () -> {
                  ready.incrementAndGet();
                  long spun = System.nanoTime();
                  while (ready.get() < operators.size()
                      && Elapsed.since(spun).compareTo(Duration.ofMillis(5)) < 0) {
                    Thread.yield(); // other kits may run beside this one
                  }
                  return operator.forceRelease(name);
                }));
      }
      List<Boolean> answers = new ArrayList<>();
      for (Future<Boolean> one : said) {
        answers.add(one.get());
      }
      assertThat(answers).as("answers to forced releases of one lock").containsOnlyOnce(true);
    }
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails(
      "check that forceRelease takes its name for a name, not for a beginning or a pattern")
  void forceReleaseFreesNoOtherName() throws InterruptedException {
    LockManager holder = fixture.open();
    LockManager another = fixture.open();
    long begun = System.nanoTime();
    for (SimilarNames names : SimilarNames.dividedIn(fixture, "forced")) {
      fixture.needsTime(begun, "names");
      List<Lease> held = new ArrayList<>();
      names.some().forEach(name -> held.add(fixture.take(holder, name, fixture.foreignTtl())));
      String base = names.base();

      names.others().forEach(name -> TckFixture.regardless(() -> another.forceRelease(name)));
      for (String pattern : List.of(base.replace("forced", "*"), base.replace('f', '?'))) {
        TckFixture.regardless(() -> another.forceRelease(pattern));
      }

      for (Lease lease : held) {
        assertThat(lease.isHeld() && !fixture.gets(another, lease.name()))
            .as("'%s' is held", lease.name())
            .isTrue();
      }
    }
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect looks at its name as it is, neither trimmed nor normalized")
  void aFreeNameIsNotShownAsASimilarOneThatIsHeld() {
    LockManager locks = fixture.open();
    long begun = System.nanoTime();
    for (SimilarNames names : SimilarNames.dividedIn(fixture, "similar")) {
      fixture.needsTime(begun, "names");
      names.some().forEach(name -> fixture.take(locks, name, fixture.ttl()));

      for (String free : names.others()) {
        assertThat(locks.inspect(free)).as("the status of '%s', which is free", free).isEmpty();
      }
    }
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check that forceRelease removes what other libraries have put there, too")
  void forceReleaseFreesALockOfAnotherOwner() throws InterruptedException {
    Needs.nodes(fixture, 1);
    String name = fixture.name("foreign");
    Contender.holding(fixture, name);

    assertThat(fixture.open().forceRelease(name)).isTrue();

    OnNodes.awaitFree(fixture, name);
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check that forceRelease removes no key of another type, and says what it found")
  void forceReleaseLeavesAKeyOfAnotherTypeAlone() {
    Needs.of(fixture, TckFault.OTHER_TYPE);
    String name = fixture.name("other-type");
    List<String> parts = new ArrayList<>(List.of(name));
    fixture.nodes().forEach(node -> parts.add(node.address()));
    LockManager locks = fixture.open();
    Faults.begin(fixture, TckFault.OTHER_TYPE, fixture.nodes(), name);

    for (int i = 0; i < 2; i++) { // the second finds what the first left as it was
      assertThat(catchThrowable(() -> locks.forceRelease(name)))
          .as("the exception of forceRelease for a key of another type")
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContainingAll(parts.toArray(String[]::new));
    }
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check the reason of loss of a holder whose token is gone")
  void theHolderSeesThatItsLockWasRemoved() throws InterruptedException {
    Needs.of(fixture, LockCapability.EXTENSION);
    LockManager locks = fixture.open();
    for (LockManager operator : List.of(fixture.open(), locks)) {
      String name = fixture.name("removed");
      Lease lease = OnNodes.take(fixture, locks, name, fixture.ttl());
      TckFixture.regardless(() -> operator.forceRelease(name));
      Attempts.awaitFree(fixture, name);

      assertThat(lossSeenBy(lease)).isEqualTo(LossReason.REMOVED);
      assertThat(fixture.soon().get("the loss is known", lease.onLoss()))
          .isEqualTo(LossReason.REMOVED);
    }
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check the reason of loss of a holder whose token was replaced by another's")
  void theHolderSeesThatAnotherOwnerWasFaster() throws InterruptedException {
    Needs.of(fixture, LockCapability.EXTENSION);
    String name = fixture.name("taken");
    Lease lease = OnNodes.take(fixture, fixture.open(), name, fixture.ttl());
    TckFixture.regardless(() -> fixture.open().forceRelease(name));
    Attempts.awaitFree(fixture, name);
    Contender.holding(fixture, name);

    assertThat(lossSeenBy(lease)).isEqualTo(LossReason.TAKEN);
  }

  /** Leaves the test out if the holder sees none, which is the extension's. */
  private LossReason lossSeenBy(Lease lease) {
    try {
      lease.extend(fixture.ttl());
    } catch (LockLostException lost) {
      return lost.reason();
    } catch (LockException another) {
      IgnoredFailures.add(another);
      return AnotherRule.isBroken("the extension said " + another);
    }
    return AnotherRule.isBroken("a lock that was removed was extended");
  }

  /** Opens a manager on one node: of several nodes, each removes a lock by itself. */
  private LockManager openOnOne() {
    if (fixture.nodes().isEmpty() && fixture.environment().hasNodeOptions()) {
      abort("this environment shows no nodes");
    }
    return fixture.nodes().size() > 1
        ? fixture.openOn(fixture.uris().subList(0, 1))
        : fixture.open();
  }

  /** Returns what is shown in place of a label: in a status, and in the exception of a waiter. */
  private List<String> shownInsteadOf(String label, LockManager operator, String name)
      throws InterruptedException {
    List<String> shown = new ArrayList<>();
    shown.add(seen(operator, name).ownerLabel());
    try {
      Lease unexpected = operator.acquire(requestOf(name).waitAtMost(Duration.ZERO));
      TckFixture.regardless(unexpected::release);
    } catch (LockContendedException refused) {
      refused.holder().ifPresent(shown::add);
    } catch (LockException another) {
      IgnoredFailures.add(another);
    }
    shown.removeIf(label::equals);
    return shown;
  }

  private LockRequest requestOf(String name) {
    return LockRequest.of(name, fixture.ttl());
  }

  private static LockStatus seen(LockManager operator, String name) {
    return operator.inspect(name).orElseThrow(() -> new AssertionError(name + " is held"));
  }
}
