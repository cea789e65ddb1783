package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever compares before it acts does both as one. A link holds back each request of an operation
 * in turn, so that something comes between whatever steps a backend takes.
 */
@Tag("exclusion")
public abstract class AtomicityRules {
  private static final int RELEASED = 50;

  /** Time for a step of an extension that comes behind the release. */
  private static final long LATER_NANOS = 5_000_000;

  final TckFixture fixture;

  public AtomicityRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  /** An operation, and what comes between its steps. */
  private interface Scene {
    /** Makes ready, and returns the operation. */
    Eventually.Assertions prepared(LockManager locks, String name) throws Exception;

    /** Changes the node between the steps, as another client would. */
    void between(TckNode node, String name);

    /** Returns whether the node has the state that the operation must leave. */
    boolean isRight(TckNode node, String name);
  }

  /** Scenes in which another owner takes the lock between the steps. */
  private abstract class Overtaken implements Scene {
    @Override
    public void between(TckNode node, String name) {
      OnNodes.occupy(fixture, List.of(node), name);
    }

    @Override
    public boolean isRight(TckNode node, String name) {
      return OnNodes.isUntouched(fixture, node, name);
    }
  }

  @Test
  @Rule("REL-1")
  @IfThisFails("check that a node compares the token and deletes in one step")
  void nothingComesBetweenComparingAndDeleting() throws InterruptedException {
    atEachStep(released(fixture::request));
  }

  @Test
  @Rule("REL-1")
  @IfThisFails("check that a node compares the token and shortens the ttl in one step")
  void nothingComesBetweenComparingAndShortening() throws InterruptedException {
    Needs.of(fixture, LockCapability.HOLD_AT_LEAST);
    Duration least = fixture.ttl().dividedBy(2);
    atEachStep(released(name -> fixture.request(name).holdAtLeast(least)));
  }

  @Test
  @Rule("REL-1")
  @IfThisFails("check that WATCH, GET, MULTI and EXEC of a transaction share a connection")
  void nothingComesBetweenTheStepsOfAReleaseWithoutScripts() throws InterruptedException {
    Needs.of(fixture, TckFault.NO_SCRIPTS);
    Faults.begin(fixture, TckFault.NO_SCRIPTS, fixture.nodes(), "");
    atEachStep(uris -> WithoutScripts.opened(fixture, uris), released(fixture::request));
  }

  @Test
  @Rule("EXT-1")
  @IfThisFails("check that a node compares the token and sets the ttl in one step")
  void nothingComesBetweenComparingAndExtending() throws InterruptedException {
    Duration foreign = fixture.ttl().dividedBy(3);
    atEachStep(
        new Scene() {
          @Override
          public Eventually.Assertions prepared(LockManager locks, String name) {
            Lease lease = OnNodes.take(fixture, locks, name, foreign);
            return () -> lease.extend(fixture.ttl());
          }

          @Override
          public void between(TckNode node, String name) {
            node.occupy(name, OnNodes.occupant(node), foreign);
          }

          @Override
          public boolean isRight(TckNode node, String name) {
            return node.holder(name).equals(Optional.of(OnNodes.occupant(node)))
                && node.timeToLive(name).compareTo(foreign) <= 0;
          }
        });
  }

  @Test
  @Rule("EXT-1")
  @IfThisFails("check that a node looks for the key and puts it back in one step")
  void nothingComesBetweenMissingAKeyAndPuttingItBack() throws InterruptedException {
    Needs.nodes(fixture, 3);
    atEachStep(
        new Overtaken() {
          @Override
          public Eventually.Assertions prepared(LockManager locks, String name) {
            Lease lease = OnNodes.take(fixture, locks, name, fixture.ttl());
            fixture.node(0).remove(name);
            return () -> lease.extend(fixture.ttl());
          }
        });
  }

  @Test
  @Rule("EXT-3")
  @IfThisFails("check that a node compares the times and sets the longer one in one step")
  void nothingComesBetweenComparingTheTimesAndSettingOne() throws InterruptedException {
    Duration first = fixture.ttl().dividedBy(3);
    atEachStep(
        new Scene() {
          private String token = "";

          @Override
          public Eventually.Assertions prepared(LockManager locks, String name) {
            Lease lease = OnNodes.take(fixture, locks, name, first);
            token = lease.token();
            return () -> lease.extend(fixture.ttl());
          }

          @Override
          public void between(TckNode node, String name) {
            node.occupy(name, token, fixture.foreignTtl());
          }

          @Override
          public boolean isRight(TckNode node, String name) {
            return node.timeToLive(name).compareTo(fixture.ttl()) > 0;
          }
        });
  }

  @Test
  @Rule("ACQ-4")
  @IfThisFails("check that what an attempt left is compared and deleted in one step")
  void nothingComesBetweenComparingAndReleasingAFailedAttempt() throws InterruptedException {
    Needs.nodes(fixture, 3);
    atEachStep(
        new Overtaken() {
          @Override
          public Eventually.Assertions prepared(LockManager locks, String name) {
            OnNodes.occupy(fixture, fixture.nodes().subList(1, fixture.nodes().size()), name);
            return () -> locks.tryAcquire(name, fixture.ttl());
          }
        });
  }

  @Test
  @Rule("ACQ-10")
  @IfThisFails("check that a node sets a key and its ttl in one step")
  void aKeyHasItsTtlFromTheFirst() throws InterruptedException {
    atEachStep(
        new Scene() {
          @Override
          public Eventually.Assertions prepared(LockManager locks, String name) {
            return () -> locks.tryAcquire(name, fixture.ttl());
          }

          @Override
          public void between(TckNode node, String name) {
            Duration longest = fixture.ttl().plusMillis(1);
            assertThat(
                    Attempts.stays(Steps.TIME, () -> node.timeToLive(name).compareTo(longest) <= 0))
                .as("the key ends with its ttl though its holder dies now")
                .isTrue();
          }

          @Override
          public boolean isRight(TckNode node, String name) {
            return true;
          }
        });
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails(
      "check that forceRelease reports the lock that it removed, not one that it saw before")
  void aForcedReleaseThatRemovesNothingDoesNotSayThatItDid() throws InterruptedException {
    forcedAtEachStep(
        name -> fixture.nodes().forEach(node -> node.remove(name)),
        (name, said) -> assertThat(said).as("it says that there was something").isFalse());
  }

  @Test
  @Rule("REL-9")
  @IfThisFails("check that an extension compares the token and extends in one atomic step")
  void aReleaseRightBehindAnExtensionLeavesNoKey() {
    Needs.of(fixture, LockCapability.EXTENSION);
    List<String> behindOthers =
        keptAfterRelease(lease -> TckFixture.regardless(() -> lease.extend(fixture.ttl())));
    if (!behindOthers.isEmpty()) {
      AnotherRule.isBroken("a lock that was extended and released is not free");
    }

    assertThat(keptAfterRelease(lease -> lease.extendAsync(fixture.ttl())))
        .as("released, and not free")
        .isEmpty();
  }

  /** Returns the name of a lock that is not free after a release behind an extension. */
  private List<String> keptAfterRelease(Consumer<Lease> extension) {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    for (int i = 0; i < RELEASED; i++) {
      Lease lease = fixture.take(locks, fixture.name("released"), fixture.ttl());
      extension.accept(lease);
      CompletableFuture<Boolean> released = lease.releaseAsync();
      fixture.awaitRegardless("the release is answered", released::isDone);
      LockSupport.parkNanos(LATER_NANOS);
      if (!comesFree(other, lease.name())) {
        return List.of(lease.name());
      }
    }
    return List.of();
  }

  /**
   * Returns whether the lock becomes free soon. Several attempts are made, because a single one can
   * be an outage.
   */
  private boolean comesFree(LockManager other, String name) {
    try {
      fixture.soon().until("it is free", () -> gets(other, name));
      return true;
    } catch (AssertionError e) {
      IgnoredFailures.add(e);
      return false;
    }
  }

  private boolean gets(LockManager locks, String name) {
    try {
      return fixture.gets(locks, name);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check that forceRelease frees the name for any holder")
  void aForcedReleaseThatSaysSoHasFreedTheNameFromAnyOwner() throws InterruptedException {
    forcedAtEachStep(
        name -> OnNodes.occupy(fixture, fixture.nodes(), name),
        (name, said) ->
            assertThat(!said || Attempts.comes(() -> OnNodes.isFree(fixture.nodes(), name)))
                .as("the name is free, if it says so: %s", said)
                .isTrue());
  }

  /** Returns a release of a lock that is requested so, during which another owner takes it. */
  private Scene released(Function<String, LockRequest> request) {
    return new Overtaken() {
      @Override
      public Eventually.Assertions prepared(LockManager locks, String name) {
        return OnNodes.take(fixture, locks, request.apply(name))::release;
      }
    };
  }

  private void atEachStep(Scene scene) throws InterruptedException {
    atEachStep(fixture::openOn, scene);
  }

  /**
   * Plays the scene once for each request of the operation, and holds that request back while
   * others act.
   *
   * @param opener opens a manager on these nodes
   */
  private void atEachStep(Function<List<String>, LockManager> opener, Scene scene)
      throws InterruptedException {
    Needs.nodes(fixture, 1);
    TckNode node = fixture.node(0);
    TckLink link = Needs.link(fixture, node);
    List<String> uris = fixture.uris();
    uris.set(0, link.uri());
    LockManager locks = opener.apply(uris);
    for (int passing = 0; passing < Steps.MAX; passing++) {
      String name = fixture.name("step-" + passing);
      Eventually.Assertions operation = prepared(scene, locks, name);
      int held = link.requests(name).size() + passing;
      link.after(name, passing, TckLink.Fate.LATE);
      Call<Boolean> call = begun(operation);
      if (!Steps.comes(fixture, call, () -> link.requests(name).size() > held)) {
        Steps.needsOne(passing);
        link.mend();
        return;
      }
      scene.between(node, name);
      link.mend();
      call.awaited(fixture);

      assertThat(Attempts.stays(Steps.TIME, () -> scene.isRight(node, name)))
          .as("right after what came before request %d of the operation", passing + 1)
          .isTrue();
    }
  }

  private interface Said {
    void check(String name, boolean said) throws InterruptedException;
  }

  private interface Act {
    void on(String name);
  }

  /** Does the same for operations that ask all nodes before they act. */
  private void forcedAtEachStep(Act between, Said after) throws InterruptedException {
    Needs.nodes(fixture, 1);
    List<TckLink> links = Needs.links(fixture);
    LockManager operator = fixture.openOn(Needs.uris(links));
    LockManager holder = fixture.open();
    for (int passing = 0; passing < Steps.MAX; passing++) {
      String name = fixture.name("step-" + passing);
      OnNodes.take(fixture, holder, name, fixture.ttl());
      int held = passing;
      links.forEach(link -> link.after(name, held, TckLink.Fate.LATE));
      Call<Boolean> call = Call.begin(() -> operator.forceRelease(name));
      if (!Steps.comes(
          fixture, call, () -> links.stream().allMatch(l -> l.requests(name).size() > held))) {
        Steps.needsOne(passing);
        links.forEach(TckLink::mend);
        return;
      }
      between.on(name);
      links.forEach(TckLink::mend);

      after.check(name, call.awaited(fixture).result().orElse(false));
    }
  }

  private static Eventually.Assertions prepared(Scene scene, LockManager locks, String name) {
    try {
      return scene.prepared(locks, name);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static Call<Boolean> begun(Eventually.Assertions operation) {
    return Call.begin(
        () -> {
          TckFixture.regardless(operation);
          return true;
        });
  }

  /**
   * Forces releases while other owners come. A release in two steps would end the next lease
   * between the forced release and its answer.
   */
  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that a release compares and deletes in one step, also within one process")
  void aReleaseSparesAnOwnerThatComesMeanwhile() throws InterruptedException {
    Needs.of(fixture, LockCapability.FORCE_RELEASE);
    LockManager holder = fixture.open();
    LockManager others = fixture.open();
    LockManager third = fixture.open();
    Seed seed = new Seed();
    for (int round = 0; round < 50; round++) {
      String name = fixture.name("overtaken");
      Lease lease = fixture.take(holder, name, fixture.ttl());
      CompletableFuture<Boolean> released = lease.releaseAsync();
      seed.pauseUpTo(300);
      TckFixture.regardless(() -> others.forceRelease(name));
      boolean hasNext = fixture.gets(others, name);
      fixture.awaitRegardless("the release is answered", released::isDone);

      assertThat(hasNext && fixture.gets(third, name))
          .as("round %d, %s: granted to two owners", round, seed)
          .isFalse();
    }
  }
}
