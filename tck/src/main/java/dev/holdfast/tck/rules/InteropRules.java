package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rules about clients of other languages, one of which the kit plays. */
public abstract class InteropRules {
  private static final int ROUNDS = 100;

  /** About as long as an attempt takes, so that all of its steps are hit. */
  private static final long MICROS = 500;

  final TckFixture fixture;

  public InteropRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("INT-1")
  @IfThisFails("check that the key is the name, and that any value in it blocks other clients")
  void aForeignClientKeepsUsOut() throws InterruptedException {
    ForeignClient foreign = needsForeignClient();
    String name = fixture.name("größe, 数字 🔒");
    LockManager locks = fixture.open();
    assertThat(foreign.take(name, fixture.foreignTtl())).isEqualTo(fixture.nodes().size());

    assertThat(fixture.gets(locks, name)).isFalse();

    assertThat(foreign.release(name)).as("keys that were left to it").isEqualTo(all());
    assertThat(fixture.gets(locks, name)).as("when the foreign client has gone").isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("INT-1")
  @IfThisFails("check that a grant is the token in the key of the name, with a time to live")
  void weKeepAForeignClientOut() {
    ForeignClient foreign = needsForeignClient();
    String name = fixture.name("größe, 数字 🔒");
    Lease lease = OnNodes.take(fixture, fixture.open(), name, fixture.ttl());

    assertThat(foreign.take(name, fixture.foreignTtl())).as("nodes that it got").isZero();
    assertThat(foreign.release(name)).as("keys that are its own").isZero();

    assertThat(OnNodes.count(fixture, name, lease.token())).isEqualTo(all());
    assertThat(fixture.nodes())
        .allSatisfy(
            node ->
                assertThat(node.timeToLive(name))
                    .isBetween(Duration.ofMillis(1), fixture.ttl().plusMillis(1)));
  }

  /**
   * Counts the foreign lock only if it is on all nodes. How many are enough is for another rule.
   */
  @Test
  @Tag("exclusion")
  @Rule("INT-1")
  @IfThisFails("check that a node grants a lock and takes it in one step, by SET with NX")
  void aForeignClientAndWeNeverGetTheLockTogether() {
    ForeignClient foreign = needsForeignClient();
    LockManager locks = fixture.open();
    Seed seed = new Seed();
    long begun = System.nanoTime();
    for (int round = 0; round < ROUNDS && fixture.isEarly(begun); round++) {
      String name = fixture.name("race");
      Call<Boolean> ours = Call.begin(() -> fixture.gets(locks, name));
      seed.pauseUpTo(MICROS);
      boolean theirs = foreign.take(name, fixture.foreignTtl()) == all();

      assertThat(theirs && ours.awaited(fixture).result().orElse(false))
          .as("got by both in round %d; %s", round, seed)
          .isFalse();
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("INT-1")
  @IfThisFails("check that nothing is asked of a foreign key but that it ends")
  void theLockOfAForeignClientIsGrantedWhenItExpires() {
    ForeignClient foreign = needsForeignClient();
    OnNodes.needsExpiry(fixture);
    String name = fixture.name("left");
    foreign.take(name, Duration.ofMillis(100));

    fixture.take(fixture.open(), name, fixture.ttl());
  }

  @Test
  @Tag("exclusion")
  @Rule("INT-1")
  @IfThisFails("check that a value that is no text is read like any other, and ends no connection")
  void theLockOfAForeignClientWhoseTokenIsNoTextIsALock() {
    needsForeignClient();
    LockManager locks = fixture.open();

    Retries.anyOf( // a machine that stalls is an outage
        () -> {
          String name = fixture.name("bytes");
          ForeignBytes.occupy(fixture, name, fixture.foreignTtl());
          for (Asking way : Asking.values()) {
            LockRequest request = fixture.request(name).waitAtMost(Duration.ZERO);
            assertThat(way.ask(locks, request)).as("granted by %s", way).isEmpty();
          }
          if (fixture.declares(LockCapability.INSPECTION)) {
            assertThat(locks.inspect(name)).as("the status of the lock").isPresent();
          }
          if (fixture.declares(LockCapability.FORCE_RELEASE)) {
            assertThat(locks.forceRelease(name)).as("whether there was a lock").isTrue();
          }
        });
  }

  private int all() {
    return fixture.nodes().size();
  }

  /** Leaves the test out where no other libraries have locks. */
  private ForeignClient needsForeignClient() {
    Needs.nodes(fixture, 1);
    ForeignClient foreign = new ForeignClient(fixture.nodes());
    try {
      foreign.take(fixture.name("probe"), fixture.foreignTtl());
    } catch (UnsupportedOperationException e) {
      return abort(e.getMessage());
    }
    return foreign;
  }
}
