package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Replies that come late, and belong to the requests that they answer, and requests that come late,
 * and are not overtaken by those that undo them. Both come under traffic, because one request alone
 * has no other to be taken for.
 */
public abstract class LateRules {
  /** So that each answer that is late is waited for, on a machine that stalls as well. */
  private static final String PATIENT = "nodeTimeout=10s";

  /** Number of requests of each kind while nodes are silent. */
  private static final int REQUESTS = 30;

  /** Shorter than the silence that a connection survives. */
  private static final Duration SHORT = Duration.ofMillis(300);

  /**
   * The times in which a node says that it lacks a script: on a machine that idles, and a busy one.
   */
  private static final List<Duration> UNTIL_IT_LACKS =
      List.of(Duration.ofMillis(2), Duration.ofMillis(5), Duration.ofMillis(15));

  private static final Duration MIDDLING = Duration.ofMillis(600);
  private static final Duration LONG = Duration.ofMillis(900);

  final TckFixture fixture;

  public LateRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("ERR-6")
  @IfThisFails("check that an abandoned request stays in place until its reply arrives")
  void aLateReplyGrantsNoOtherLock() throws Exception {
    needsLateReplies();
    LockManager locks = openAndWarmUp();
    for (Duration silence : List.of(SHORT, LONG)) {
      List<String> held = names("held");
      held.forEach(name -> OnNodes.occupy(fixture, fixture.granting(), name));
      List<CompletableFuture<Optional<Lease>>> asked = new ArrayList<>();

      whileSilent(
          silence,
          i -> {
            locks.tryAcquireAsync(fixture.request(fixture.name("free")));
            asked.add(locks.tryAcquireAsync(fixture.request(held.get(i))));
          });

      assertThat(asked.stream().filter(this::isGranted))
          .as("of %d locks that others hold on a quorum, those that were granted", asked.size())
          .isEmpty();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  @IfThisFails("check that an abandoned request stays in place until its reply arrives")
  void aLateReplyRefusesNoOtherLock() throws Exception {
    needsLateReplies();
    LockManager locks = openAndWarmUp();
    List<TckNode> others = fixture.nodes().subList(fixture.quorum(), fixture.nodes().size());
    List<String> busy = names("busy");
    busy.forEach(name -> OnNodes.occupy(fixture, fixture.nodes(), name));
    List<String> free = names("free");
    free.forEach(name -> OnNodes.occupy(fixture, others, name));
    List<CompletableFuture<Optional<Lease>>> asked = new ArrayList<>();

    whileSilent(
        MIDDLING,
        i -> {
          locks.tryAcquireAsync(fixture.request(busy.get(i)));
          asked.add(locks.tryAcquireAsync(fixture.request(free.get(i))));
        });

    assertThat(asked.stream().filter(this::isGranted))
        .as("granted locks, of those that no other owner holds on a quorum")
        .hasSameSizeAs(asked);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that an abandoned request stays in place until its reply arrives")
  void aLateReplyExtendsNoOtherLease() throws Exception {
    needsLateReplies();
    Needs.of(fixture, LockCapability.EXTENSION);
    LockManager locks = openAndWarmUp();
    List<Lease> held = leases(locks, "held");
    List<Lease> robbed = leases(locks, "robbed");
    rob(robbed);
    List<CompletableFuture<Void>> asked = new ArrayList<>();

    whileSilent(
        MIDDLING,
        i -> {
          held.get(i).extendAsync(fixture.ttl());
          asked.add(robbed.get(i).extendAsync(fixture.ttl()));
        });

    assertThat(asked.stream().filter(this::isSuccess))
        .as("extensions of leases that a quorum does not hold")
        .isEmpty();
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check that an abandoned request stays in place until its reply arrives")
  void aLateReplyReleasesNoOtherLease() throws Exception {
    needsLateReplies();
    LockManager locks = openAndWarmUp();
    List<Lease> held = leases(locks, "held");
    List<Lease> robbed = leases(locks, "robbed");
    rob(robbed);
    List<CompletableFuture<Boolean>> asked = new ArrayList<>();

    whileSilent(
        MIDDLING,
        i -> {
          held.get(i).releaseAsync();
          asked.add(robbed.get(i).releaseAsync());
        });

    assertThat(asked.stream().filter(this::isTrue))
        .as("releases, said to be in time, of leases that a quorum does not hold")
        .isEmpty();
  }

  @Test
  @Rule("ACQ-3")
  @IfThisFails("check that a node gets what a manager asks about one lock in the order of asking")
  void anAttemptThatComesLateIsReleasedBehindIt() {
    requireTakenBackBehindIt(Delayed::begin);
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that a node gets what a manager asks about one lock in the order of asking")
  void aGrantThatComesLateIsReleasedBehindIt() {
    requireReleasedBehindIt(Delayed::begin);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @IfThisFails("check that a release is sent behind an extension in flight")
  void anExtensionThatComesLateIsNotOvertakenByARelease() {
    requireNotOvertaken(Delayed::begin);
  }

  @Test
  @Rule("ACQ-3")
  @IfThisFails("check that requests that wait for others on a connection keep their order")
  void anAttemptThatWaitsForAnotherRequestIsReleasedBehindIt() {
    requireTakenBackBehindIt(Delayed::beginByAnother);
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that requests that wait for others on a connection keep their order")
  void aGrantThatWaitsForAnotherRequestIsReleasedBehindIt() {
    requireReleasedBehindIt(Delayed::beginByAnother);
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @IfThisFails("check that requests that wait for others on a connection keep their order")
  void anExtensionThatWaitsForAnotherRequestIsNotOvertakenByARelease() {
    requireNotOvertaken(Delayed::beginByAnother);
  }

  @Test
  @Rule("ACQ-3")
  @IfThisFails("check that a request that brings its script keeps its place before later ones")
  void anAttemptThatBringsItsScriptIsReleasedBehindIt() {
    for (Duration pause : UNTIL_IT_LACKS) {
      Delayed delayed = new Delayed("refused");
      OnNodes.occupy(fixture, delayed.others, delayed.name);

      CompletableFuture<?> asked = delayed.beginWithoutScripts(pause, delayed::ask);

      delayed.letOthersAnswer();
      fixture.awaitRegardless("it is refused", asked::isDone);
      delayed.end();
      fixture
          .soon()
          .until("the attempt left nothing", () -> delayed.node.holder(delayed.name).isEmpty());
    }
  }

  @Test
  @Rule("REL-2")
  @IfThisFails("check that a request that brings its script keeps its place before later ones")
  void aGrantThatBringsItsScriptIsReleasedBehindIt() {
    for (Duration pause : UNTIL_IT_LACKS) {
      Delayed delayed = new Delayed("released");

      CompletableFuture<Optional<Lease>> asked = delayed.beginWithoutScripts(pause, delayed::ask);

      delayed.letOthersAnswer();
      Attempts.answered(fixture, asked).ifPresent(Lease::releaseAsync);
      delayed.end();
      OnNodes.awaitFree(fixture, delayed.name);
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-9")
  @IfThisFails("check that a request that brings its script keeps its place before later ones")
  void anExtensionThatBringsItsScriptIsNotOvertakenByARelease() {
    Needs.of(fixture, LockCapability.EXTENSION);
    for (Duration pause : UNTIL_IT_LACKS) {
      Delayed delayed = new Delayed("extended");
      Lease lease = OnNodes.take(fixture, delayed.locks, delayed.name, fixture.ttl());

      delayed.beginWithoutScripts(pause, () -> lease.extendAsync(fixture.ttl().plusSeconds(5)));

      lease.releaseAsync();
      delayed.letOthersAnswer();
      delayed.end();
      OnNodes.awaitFree(fixture, delayed.name);
    }
  }

  private void requireTakenBackBehindIt(Consumer<Delayed> beginning) {
    Delayed delayed = new Delayed("refused");
    OnNodes.occupy(fixture, delayed.others, delayed.name);
    beginning.accept(delayed);

    TckFixture.regardless(() -> delayed.locks.tryAcquire(delayed.name, fixture.ttl()));

    delayed.end();
    fixture
        .soon()
        .until("the attempt left nothing", () -> delayed.node.holder(delayed.name).isEmpty());
  }

  private void requireReleasedBehindIt(Consumer<Delayed> beginning) {
    Delayed delayed = new Delayed("released");
    beginning.accept(delayed);
    Lease lease = fixture.take(delayed.locks, delayed.name, fixture.ttl());

    TckFixture.regardless(lease::release);

    delayed.end();
    OnNodes.awaitFree(fixture, delayed.name);
  }

  private void requireNotOvertaken(Consumer<Delayed> beginning) {
    Needs.of(fixture, LockCapability.EXTENSION);
    Delayed delayed = new Delayed("extended");
    Lease lease = OnNodes.take(fixture, delayed.locks, delayed.name, fixture.ttl());
    TckFixture.regardless(() -> lease.extend(fixture.ttl())); // which brings nodes what others need
    beginning.accept(delayed);

    TckFixture.regardless(() -> lease.extend(fixture.ttl().plusSeconds(5)));
    TckFixture.regardless(lease::release);

    delayed.end();
    OnNodes.awaitFree(fixture, delayed.name);
  }

  /** A manager that reaches one of the nodes by a link, on which requests come late. */
  private final class Delayed {
    final TckNode node;
    final List<TckNode> others;
    final String name;
    final LockManager locks;
    private final TckLink link;

    /** Fewer requests about the lock than there are when all have come. */
    private int awaited = 1;

    Delayed(String end) {
      Needs.nodes(fixture, 3);
      node = fixture.node(0);
      others = fixture.nodes().subList(1, fixture.nodes().size());
      name = fixture.name(end);
      link = Needs.link(fixture, node);
      List<String> uris = fixture.uris();
      uris.set(0, link.uri());
      locks = fixture.openOn(uris, PATIENT);
      Attempts.needsVote(fixture, locks, node);
    }

    void begin() {
      link.after(name, 0, TckLink.Fate.LATE);
    }

    /**
     * Lets an attempt at another lock come late, and with it all that follows on its connection.
     */
    void beginByAnother() {
      String another = fixture.name("another");
      link.after(another, 0, TckLink.Fate.LATE);
      locks.tryAcquireAsync(fixture.request(another));
      fixture.soon().until("an attempt was late", () -> !link.requests(another).isEmpty());
    }

    /**
     * Makes a request for which the node lacks the script, so that it is sent once more with the
     * script, which comes late. The node has the script of a release, and time to say what it
     * lacks. The other nodes do not answer yet.
     */
    <T> T beginWithoutScripts(Duration pause, Supplier<T> request) {
      Needs.of(fixture, TckFault.FROZEN, TckFault.SCRIPTS_FORGOTTEN);
      Lease other = OnNodes.take(fixture, locks, fixture.name("other"), fixture.ttl());
      Faults.begin(fixture, TckFault.SCRIPTS_FORGOTTEN, node, name);
      TckFixture.regardless(other::release);
      fixture.awaitRegardless("another is free", () -> node.holder(other.name()).isEmpty());
      int before = link.requests(name).size();
      awaited = before + 2;
      link.after(name, 1, TckLink.Fate.LATE);
      Faults.begin(fixture, TckFault.FROZEN, others, name);
      T asked = request.get();
      Attempts.comes(() -> link.requests(name).size() > before);
      LockSupport.parkNanos(pause.toNanos());
      return asked;
    }

    void letOthersAnswer() {
      Faults.end(TckFault.FROZEN, others, name);
    }

    CompletableFuture<Optional<Lease>> ask() {
      return locks.tryAcquireAsync(fixture.request(name));
    }

    /** Returns when the node has done what was late, and with time for what overtakes it. */
    void end() {
      Attempts.comes(() -> link.requests(name).size() > awaited);
      link.mend();
      Attempts.needsVote(fixture, locks, node);
    }
  }

  private void needsLateReplies() {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodes(fixture, 3);
  }

  private LockManager openAndWarmUp() {
    LockManager locks = fixture.open(PATIENT);
    fixture.nodes().forEach(node -> Attempts.needsVote(fixture, locks, node));
    return locks;
  }

  private List<String> names(String end) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      names.add(fixture.name(end));
    }
    return names;
  }

  private List<Lease> leases(LockManager locks, String end) {
    return names(end).stream()
        .map(name -> OnNodes.take(fixture, locks, name, fixture.ttl()))
        .toList();
  }

  /** Removes the leases' keys, which their holder does not know yet. */
  private void rob(List<Lease> leases) {
    leases.forEach(lease -> fixture.granting().forEach(node -> node.remove(lease.name())));
  }

  /** A sequence of requests to a manager. */
  private interface Traffic {
    void ask(int number);
  }

  /**
   * Asks steadily while a minority is silent. The silence ends before the last third is asked,
   * which finds late replies on the way.
   */
  private void whileSilent(Duration silence, Traffic traffic) throws Exception {
    int late = REQUESTS / 3;
    Faults.whileFrozen(
        fixture,
        fixture.minority(),
        () -> {
          long pause = silence.toNanos() / (REQUESTS - late);
          for (int i = 0; i < REQUESTS - late; i++) {
            traffic.ask(i);
            LockSupport.parkNanos(pause);
          }
        });
    for (int i = REQUESTS - late; i < REQUESTS; i++) {
      traffic.ask(i);
    }
  }

  private boolean isGranted(CompletableFuture<Optional<Lease>> asked) {
    return ended(asked).isPresent();
  }

  private boolean isTrue(CompletableFuture<Boolean> asked) {
    return ended(asked.thenApply(Optional::of)).orElse(false);
  }

  private boolean isSuccess(CompletableFuture<Void> asked) {
    return ended(asked.thenApply(done -> Optional.of(true))).isPresent();
  }

  /**
   * Returns the result, or empty if the request failed. Another rule covers the failure. Leaves the
   * test out if the request never ends.
   */
  private <T> Optional<T> ended(CompletableFuture<Optional<T>> asked) {
    CompletableFuture<Optional<T>> end = asked.exceptionally(failure -> Optional.empty());
    try {
      fixture.soon().until("each request was answered", end::isDone);
    } catch (AssertionError e) {
      IgnoredFailures.add(e);
      AnotherRule.isBroken("a request has no end");
    }
    return end.join();
  }
}
