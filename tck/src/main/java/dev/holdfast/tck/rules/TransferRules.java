package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lease that is transferred is over, and the lock stays taken for its adoption. */
public abstract class TransferRules {
  private static final String IMPATIENT = "nodeTimeout=200ms";
  private static final int RANDOM_DIGITS = 16;

  /** More than the time after which clients call a command slow, as a rule. */
  private static final Duration LATE = Duration.ofMillis(1_100);

  private static final Duration LONG_GRACE = Duration.ofHours(1);

  final TckFixture fixture;

  public TransferRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("CLOSE-2")
  @IfThisFails("check that a manager that is closing refuses no call of a lease that it has")
  void aLeaseIsTransferredWithinTheGraceOfItsManager() {
    Needs.of(fixture, LockCapability.TRANSFER);
    Retries.anyOf( // a lease may be lost on a busy machine
        () -> {
          LockManager closing = fixture.open();
          Lease lease = fixture.take(closing, fixture.name("open"), fixture.ttl());
          Call<?> close =
              Call.begin(
                  () -> {
                    closing.close(LONG_GRACE);
                    return true;
                  });
          fixture.soon().until("it waits for its lease", close::isWaiting);

          assertThat(lease.transfer(fixture.ttl())).as("the text").isNotEmpty();

          close.awaited(fixture);
        });
  }

  @Test
  @Rule("TRANSFER-1")
  @IfThisFails("check that a transfer extends the keys before it gives the text")
  void aTransferredLockOutlivesTheOldTtl() {
    Duration ttl = fixture.shortTtl();
    LockManager locks = fixture.openForShortTtl();
    Lease lease = fixture.take(locks, LockRequest.of(fixture.name("longer"), ttl));
    String text = transferred(lease, fixture.ttl());

    fixture.awaitPast(System.nanoTime(), ttl);

    assertAdoptable(text, lease);
  }

  @Test
  @Rule("TRANSFER-1")
  @IfThisFails("check that the extension of a transfer never sets a shorter time than there is")
  void aTransferForLessThanTheRemainingTimeShortensNothing() {
    Duration within = fixture.shortTtl();
    Lease lease = fixture.take(fixture.open(), fixture.request(fixture.name("shorter")));
    String text = transferred(lease, within);

    fixture.awaitPast(System.nanoTime(), within);

    assertAdoptable(text, lease);
  }

  @Test
  @Rule("TRANSFER-1")
  @IfThisFails("check that keepAliveUpTo limits the holder, and not the text")
  void keepAliveUpToDoesNotLimitATransfer() {
    Needs.of(fixture, LockCapability.KEEP_ALIVE);
    Duration hold = fixture.shortTtl();
    LockManager locks = fixture.openForShortTtl();
    Lease lease =
        fixture.take(locks, LockRequest.of(fixture.name("limited"), hold).keepAliveUpTo(hold));
    String text = transferred(lease, fixture.ttl());

    fixture.awaitPast(System.nanoTime(), hold);

    assertAdoptable(text, lease);
  }

  @Test
  @Rule("TRANSFER-1")
  @IfThisFails("check that a transfer asks for no more time than the holder did")
  void aTransferThatIsNotAdoptedEnds() {
    OnNodes.needsExpiry(fixture);
    Duration within = fixture.shortTtl();
    LockManager locks = fixture.openForShortTtl();
    LockManager other = fixture.open();
    Retries.anyOf(
        () -> {
          Lease lease = fixture.take(locks, LockRequest.of(fixture.name("unadopted"), within));
          long begun = System.nanoTime();
          transferred(lease, within);

          assertGotWithin(other, lease.name(), begun, within);
        });
  }

  private void assertGotWithin(LockManager other, String name, long begun, Duration time) {
    try (Stalls stalls = Stalls.watched()) {
      assertThat(Duration.ofNanos(Attempts.beginOfGrant(fixture, other, name) - begun))
          .as("time from the beginning of the last ttl to the next grant")
          .isLessThan(time.plus(fixture.allowance()).plus(stalls.worst()));
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-6")
  @IfThisFails("check that an adoption sets the ttl of its request, also a shorter one")
  void anAdoptionThatIsNeverReleasedEndsWithItsOwnTtl() {
    OnNodes.needsExpiry(fixture);
    LockManager other = fixture.open();
    Duration ttl = fixture.shortTtl();

    Retries.anyOf( // a machine that stalls lets more time pass
        () -> {
          LockManager adopter = fixture.openForShortTtl();
          Lease lease = taken("adopted");
          String text = transferred(lease, fixture.ttl());
          long begun = System.nanoTime();
          TckFixture.regardless(() -> adopter.adopt(text, LockRequest.of(lease.name(), ttl)));

          adopter.close(); // which frees nothing, as if the process had died

          assertGotWithin(other, lease.name(), begun, ttl);
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-2")
  @IfThisFails("check what each method of a lease does after transfer()")
  void aTransferredLeaseIsOverForItsHolder() {
    Lease lease = taken("over");
    TckFixture.regardless(lease::requireHeld);

    transferred(lease, fixture.ttl());

    assertOverByTransfer(lease);
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-2")
  @IfThisFails("check that a lease is over after transferAsync() as it is after transfer()")
  void aLeaseThatWasTransferredAsynchronouslyIsOverForItsHolder() {
    Lease lease = taken("over");
    TckFixture.regardless(lease::requireHeld);

    fixture.soon().get("it is transferred", lease.transferAsync(fixture.ttl()));

    assertOverByTransfer(lease);
  }

  private void assertOverByTransfer(Lease lease) {
    assertThat(lease.isHeld()).as("isHeld()").isFalse();
    assertThat(lease.remaining()).as("remaining()").isZero();
    assertThatThrownBy(lease::requireHeld).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> lease.extend(fixture.ttl())).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> lease.transfer(fixture.ttl()))
        .isInstanceOf(IllegalStateException.class);
    assertThat(lease.release()).as("release()").isTrue();
    assertThat(lease.onLoss()).as("onLoss()").isNotDone();
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-2")
  @IfThisFails("check that neither release() nor close() of a transferred lease sends a release")
  void nothingThatTheFormerHolderDoesFreesTheLock() {
    for (ReleaseWay way : ReleaseWay.values()) {
      LockManager locks = fixture.open();
      Lease lease = fixture.take(locks, fixture.request(fixture.name("kept")));
      String text = transferred(lease, fixture.ttl());

      way.release(fixture, lease);
      locks.close();

      assertAdoptable(text, lease);
    }
  }

  @Test
  @Rule("TRANSFER-3")
  @IfThisFails("check that a transfer which no quorum answers leaves the lease as it was")
  void aTransferThatNoNodeAnswersLeavesTheLeaseHeld() throws Exception {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open(IMPATIENT);

    Retries.anyOf(
        () -> {
          Lease lease = OnNodes.take(fixture, locks, fixture.request(fixture.name("silent")));
          Throwable[] thrown = new Throwable[1];
          Faults.during(
              fixture,
              TckFault.FROZEN,
              fixture.nodes(),
              lease.name(),
              () -> thrown[0] = catchThrowable(() -> lease.transfer(fixture.ttl())));

          assertThat(thrown[0]).isInstanceOf(LockOutageException.class);
          assertThat(lease.isHeld()).as("held after an outage").isTrue();
          fixture.soon().until("it is transferred", () -> !transferredOrEmpty(lease).isEmpty());
        });
  }

  @Test
  @Rule("TRANSFER-3")
  @IfThisFails("check that a lease that was lost gives no text")
  void aLostLeaseGivesNoText() {
    Needs.of(fixture, LockCapability.FORCE_RELEASE);
    LockManager locks = fixture.open();
    Lease lease = fixture.take(locks, fixture.request(fixture.name("lost")));
    TckFixture.regardless(() -> fixture.open().forceRelease(lease.name()));
    Attempts.awaitFree(fixture, lease.name());

    Throwable thrown = catchThrowable(() -> lease.transfer(fixture.ttl()));

    assertThat(thrown).isInstanceOf(LockLostException.class);
    assertThat(lease.isHeld()).as("held").isFalse();
  }

  @Test
  @Rule("TRANSFER-10")
  @IfThisFails(
      "check messages, causes, logs also for debugging, and toString for the text and the token")
  void neitherTheTextNorTheTokenIsShown() {
    try (Logs logs = Logs.keptWhole()) {
      LockManager locks = fixture.open();
      Lease lease = fixture.take(locks, fixture.request(fixture.name("secret")));
      String text = transferred(lease, fixture.ttl());
      String damaged = text.substring(0, text.length() - 2);
      List<String> shown =
          List.of(
              lease + "",
              locks + "",
              trace(() -> lease.extend(fixture.ttl())),
              trace(() -> lease.transfer(fixture.ttl())),
              trace(() -> lease.transferAsync(fixture.ttl()).join()),
              trace(lease::requireHeld),
              trace(() -> locks.adopt(damaged, fixture.request(lease.name()))),
              trace(() -> locks.adopt(text, fixture.request(fixture.name("other")))),
              adoptedText(locks, text, lease.name()),
              trace(() -> locks.adopt(text, fixture.request(lease.name()))));

      assertThat(shown).allSatisfy(one -> assertHidden(one, text, lease.token()));
      assertThat(logs.lines()).allSatisfy(line -> assertHidden(line, text, lease.token()));
    }
  }

  @Test
  @Rule("TRANSFER-10")
  @IfThisFails("check why commands failed on connections that ended: clients repeat them there")
  void neitherTheTextNorTheTokenIsShownByConnectionsThatEnd() {
    Needs.of(fixture, TckFault.FROZEN, TckFault.DEAD);
    try (Logs logs = Logs.keptWhole()) {
      LockManager locks = fixture.open(TckFixture.NO_OUTAGE);
      Lease lease = OnNodes.take(fixture, locks, fixture.request(fixture.name("unanswered")));
      String text = transferred(lease, fixture.ttl());
      Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), lease.name());
      CompletableFuture<Lease> adopted = locks.adoptAsync(text, fixture.request(lease.name()));
      Attempts.stays(() -> !adopted.isDone()); // its commands are on their way meanwhile

      Faults.begin(fixture, TckFault.DEAD, fixture.nodes(), lease.name());

      fixture.awaitRegardless("the adoption has ended", adopted::isDone);
      assertHidden(trace(adopted::join), text, lease.token());
      assertThat(logs.lines()).allSatisfy(line -> assertHidden(line, text, lease.token()));
    }
  }

  @Test
  @Rule("TRANSFER-10")
  @IfThisFails("check what is logged of an adoption that takes long, or that no quorum answers")
  void neitherTheTextNorTheTokenIsShownByAnAdoptionThatTakesLong() {
    Needs.of(fixture, TckFault.FROZEN);
    try (Logs logs = Logs.keptWhole()) {
      LockManager locks = fixture.open("nodeTimeout=600ms");
      Lease lease = OnNodes.take(fixture, locks, fixture.request(fixture.name("slow")));
      String text = transferred(lease, fixture.ttl());
      Faults.begin(fixture, TckFault.FROZEN, fixture.blocking(), lease.name());

      String thrown = trace(() -> locks.adopt(text, fixture.request(lease.name())));

      assertHidden(thrown, text, lease.token());
      assertThat(logs.lines()).allSatisfy(line -> assertHidden(line, text, lease.token()));
    }
  }

  @Test
  @Rule("TRANSFER-10")
  @IfThisFails("check what each call of a lease throws and logs when no quorum answers it")
  void neitherTheTextNorTheTokenIsShownByCallsThatFail() {
    Needs.of(fixture, TckFault.DEAD);
    LockManager locks = fixture.open(IMPATIENT);
    for (TckFault fault : List.of(TckFault.DEAD, TckFault.REFUSING, TckFault.FORBIDDEN)) {
      if (!Faults.areKnown(fixture, fault)) {
        continue;
      }
      TransferredLock other = TransferredLock.of(fixture, "adopted");
      Lease lease = Attempts.untilGot(fixture, locks, fixture.name("held"));
      try (Logs logs = Logs.keptWhole()) {
        Faults.begin(fixture, fault, fixture.blocking(), lease.name());

        List<String> shown = new ArrayList<>();
        if (fixture.declares(LockCapability.EXTENSION)) {
          shown.add(trace(() -> lease.extend(fixture.ttl())));
          shown.add(trace(() -> lease.extendAsync(fixture.ttl()).join()));
        }
        shown.add(trace(() -> lease.transfer(fixture.ttl())));
        shown.add(trace(() -> lease.transferAsync(fixture.ttl()).join()));
        shown.add(trace(() -> locks.adopt(other.text(), fixture.request(other.name()))));
        shown.add(trace(() -> locks.inspect(lease.name())));
        shown.add(trace(lease::release));
        shown.add(trace(lease::close));
        shown.add(lease + "");
        Faults.end(fault, fixture.blocking(), lease.name());

        shown.addAll(logs.lines());
        assertThat(shown)
            .as("messages while nodes are %s", fault)
            .allSatisfy(one -> assertHidden(one, other.text(), other.token()))
            .noneMatch(one -> one.contains(lease.token()));
      }
    }
  }

  @Test
  @Rule("TRANSFER-10")
  @IfThisFails("check that the error of a node is passed on without the command that it is about")
  void neitherTheTextNorTheTokenIsShownByErrorsOfNodes() {
    Needs.nodes(fixture, 1);
    List<TckLink> links = Needs.links(fixture);
    LockManager locks = fixture.openOn(Needs.uris(links), IMPATIENT);
    for (String error : List.of("OOM none left", "BUSY a script", "MISCONF no disk", "LOADING")) {
      TransferredLock adopted = TransferredLock.of(fixture, "adopted");
      Lease lease = Attempts.untilGot(fixture, locks, fixture.name("held"));
      links.forEach(link -> link.refuse(error));
      List<String> shown = new ArrayList<>();
      shown.add(trace(() -> lease.transfer(fixture.ttl())));
      shown.add(trace(() -> locks.adopt(adopted.text(), fixture.request(adopted.name()))));
      shown.add(trace(lease::release));
      links.forEach(TckLink::mend);

      assertThat(shown)
          .as("messages of nodes that answer %s", error)
          .allSatisfy(one -> assertHidden(one, adopted.text(), adopted.token()))
          .noneMatch(one -> one.contains(lease.token()));
    }
  }

  @Test
  @Rule("TRANSFER-10")
  @IfThisFails("check what is logged of commands whose replies come late: they have the token")
  void neitherTheTextNorTheTokenIsShownByCallsThatAreAnsweredLate() {
    Needs.of(fixture, TckFault.FROZEN);
    TransferredLock adopted = TransferredLock.of(fixture, "adopted");
    try (Logs logs = Logs.keptWhole()) {
      LockManager locks = fixture.open("nodeTimeout=5s");
      Lease extended = fixture.take(locks, fixture.request(fixture.name("extended")));
      Lease released = fixture.take(locks, fixture.request(fixture.name("released")));
      Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), "");
      List<CompletableFuture<?>> asked = new ArrayList<>();
      asked.add(locks.tryAcquireAsync(fixture.request(fixture.name("acquired"))));
      asked.add(released.releaseAsync());
      if (fixture.declares(LockCapability.EXTENSION)) {
        asked.add(extended.extendAsync(fixture.ttl()));
      }
      asked.add(locks.adoptAsync(adopted.text(), fixture.request(adopted.name())));
      Attempts.stays(LATE, () -> true);
      Faults.end(TckFault.FROZEN, fixture.nodes(), "");
      fixture.awaitRegardless(
          "all are answered", () -> asked.stream().allMatch(CompletableFuture::isDone));

      assertThat(logs.lines())
          .allSatisfy(line -> assertHidden(line, adopted.text(), adopted.token()))
          .noneMatch(line -> line.contains(extended.token()) || line.contains(released.token()));
    }
  }

  @Test
  @Rule("TRANSFER-9")
  @IfThisFails("check that a text is for managers of its keyPrefix, letter by letter")
  void aTextOfAPrefixInOtherLettersIsRefusedBeforeAnyNodeIsAsked() {
    LockManager locks = withPrefix("Tck:");
    LockManager other = withPrefix("tck:");
    Lease lease = fixture.take(locks, fixture.request(fixture.name("prefixed")));
    String text = transferred(lease, fixture.ttl());

    Counts.assertNoneBy(
        fixture,
        () -> {
          Throwable thrown = catchThrowable(() -> other.adopt(text, fixture.request(lease.name())));

          assertThat(thrown)
              .as("the end of an adoption by the text of a manager with another prefix")
              .isInstanceOf(LockConfigurationException.class);
        });
  }

  /** Opens a manager by a URL, where an option that a backend does not have is refused. */
  private LockManager withPrefix(String prefix) {
    ByUrl.needed(fixture);
    try {
      return ByUrl.open(fixture, "keyPrefix=" + prefix);
    } catch (LockConfigurationException e) {
      IgnoredFailures.add(e);
      return abort("this backend has no keyPrefix");
    }
  }

  @Test
  @Rule("VAL-6")
  @IfThisFails("check that the time of a transfer is held to maxTtl, too")
  void aTransferBeyondMaxTtlIsRefused() {
    Needs.of(fixture, LockCapability.TRANSFER);
    Duration max = fixture.ttl().minusSeconds(5);
    Duration tooLong = max.plusMillis(1);
    LockManager locks = fixture.open("maxTtl=" + max.toMillis() + "ms");
    Lease lease = fixture.take(locks, fixture.name("long"), max);

    Refusals.assertRefused(() -> lease.transfer(tooLong));
    Refusals.assertRefused(fixture, lease.transferAsync(tooLong));
    assertThat(lease.isHeld()).isTrue();
    assertThat(lease.transfer(max)).isNotEmpty();
  }

  @Test
  @Rule("REL-7")
  @IfThisFails("check that close() warns of an adopted lease as of any other")
  void closingAnAdoptedLeaseThatWasLostWarns() {
    Needs.of(fixture, LockCapability.TRANSFER);
    LockManager locks = fixture.openForShortTtl();
    Lease lease = taken("adopted");
    String text = transferred(lease, fixture.ttl());
    LockRequest request = LockRequest.of(lease.name(), fixture.shortTtl());
    Lease adopted = Adopting.ADOPT.adoptOrSkip(fixture, locks, text, request);
    fixture.awaitOver(adopted);

    Logs.assertClosingWarns(fixture, adopted);
  }

  @Test
  @Rule("TRANSFER-11")
  @IfThisFails("check that a lock is released whose text was offered to a future that was over")
  void aTransferWhoseTextNoCallerTakesReleasesTheLock() {
    Needs.of(fixture, TckFault.FROZEN);
    LockManager locks = fixture.open();
    Map<String, Consumer<CompletableFuture<String>>> ways = new LinkedHashMap<>();
    ways.put("cancelled", text -> text.cancel(false));
    ways.put("completed", text -> text.complete("another text"));
    ways.put("failed", text -> text.completeExceptionally(new IllegalStateException("given up")));
    ways.put("late", text -> text.orTimeout(1, TimeUnit.MILLISECONDS));
    Map<Lease, Consumer<CompletableFuture<String>>> leases = new LinkedHashMap<>();
    ways.forEach(
        (name, way) ->
            leases.put(OnNodes.take(fixture, locks, fixture.request(fixture.name(name))), way));
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), "");
    List<CompletableFuture<String>> texts = new ArrayList<>();
    leases.forEach(
        (lease, way) -> {
          CompletableFuture<String> text = lease.transferAsync(fixture.ttl());
          way.accept(text);
          texts.add(text);
        });
    fixture.soon().until("all are over", () -> texts.stream().allMatch(CompletableFuture::isDone));
    Faults.end(TckFault.FROZEN, fixture.nodes(), "");

    for (Lease lease : leases.keySet()) {
      fixture.awaitRegardless("it is over", () -> !lease.isHeld());
      if (lease.isHeld()) {
        AnotherRule.isBroken("a transfer that is answered does not end the lease");
      }
      OnNodes.awaitFree(fixture, lease.name());
    }
  }

  private static void assertHidden(String shown, String text, String token) {
    assertThat(shown)
        .doesNotContain(text)
        .doesNotContain(text.substring(text.length() / 2))
        .doesNotContain(token.substring(Math.max(0, token.length() - RANDOM_DIGITS)));
  }

  private String adoptedText(LockManager locks, String text, String name) {
    return TransferredLock.adoptedOrSkipped(fixture, locks, text, name).toString();
  }

  private static String trace(Eventually.Assertions call) {
    StringWriter trace = new StringWriter();
    @Nullable Throwable thrown = catchThrowable(call::run);
    if (thrown != null) {
      thrown.printStackTrace(new PrintWriter(trace));
    }
    return trace.toString();
  }

  private Lease taken(String end) {
    return fixture.take(fixture.open(), fixture.request(fixture.name(end)));
  }

  private String transferred(Lease lease, Duration within) {
    return TransferredLock.text(fixture, lease, within);
  }

  /** Returns an empty text while no quorum answers. */
  private String transferredOrEmpty(Lease lease) {
    try {
      return lease.transfer(fixture.ttl());
    } catch (LockOutageException e) {
      IgnoredFailures.add(e);
      return "";
    }
  }

  @Test
  @Rule("ERR-7")
  @IfThisFails("check that adopt throws an exception of its own, and not that of adoptAsync")
  void anAdoptionThatFailsHasTheFramesOfItsCaller() throws IOException {
    Needs.of(fixture, LockCapability.TRANSFER);
    Needs.of(fixture, TckFault.DEAD);
    LockManager locks = fixture.open("nodeTimeout=80ms");
    TransferredLock lock = TransferredLock.of(fixture, "adopted");
    Faults.begin(fixture, TckFault.DEAD, fixture.blocking(), lock.name());

    ErrorRules.assertOfItsCaller(
        "adopt", () -> locks.adopt(lock.text(), fixture.request(lock.name())));
  }

  @Test
  @Rule("TRANSFER-1")
  @IfThisFails("check transferAsync and adoptAsync, which decorators may leave to their defaults")
  void aLockIsTransferredAndAdoptedByFutures() {
    LockManager locks = fixture.open();
    LockManager adopter = fixture.open();
    Retries.anyOf(
        () -> {
          Lease lease = fixture.take(locks, fixture.request(fixture.name("by-futures")));

          String text = fixture.soon().get("the text", lease.transferAsync(fixture.ttl()));
          Lease adopted =
              fixture
                  .soon()
                  .get("the lease", adopter.adoptAsync(text, fixture.request(lease.name())));

          assertThat(adopted.isHeld()).isTrue();
          assertThat(adopted.token()).isNotEqualTo(lease.token());
        });
  }

  /** Asserts that the transferred token is still there: only an adoption tells. */
  private void assertAdoptable(String text, Lease lease) {
    Throwable thrown =
        catchThrowable(() -> fixture.open().adopt(text, fixture.request(lease.name())).release());

    if (thrown instanceof LockLostException lost && lost.reason() == LossReason.TAKEN) {
      AnotherRule.isBroken("another owner has a lock that was transferred");
    }
    assertThat(thrown).as("exception of an adoption of %s", lease.name()).isNull();
  }
}
