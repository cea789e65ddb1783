package dev.holdfast.legacy.setnx;

import static dev.holdfast.legacy.setnx.Fleet.KEY;
import static dev.holdfast.legacy.setnx.HandClock.stamp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockManager;
import dev.holdfast.LossReason;
import dev.holdfast.core.LockPrimitive.Extended;
import dev.holdfast.core.LockPrimitive.Extension;
import dev.holdfast.core.LockPrimitive.Lost;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An extension: the stamp that it writes, and values that it finds instead of its own. */
class SetnxExtensionTest {
  /** The stamp of a hold of ten seconds that began three tenths of a second after the start. */
  private static final String STAMP = stamp(11);

  @AutoClose private static final TestNodes NODES = TestNodes.start(1);
  private static final TestNode NODE = NODES.node(0);

  private final HandClock clock = HandClock.atStart();
  @AutoClose private final Fleet fleet = new Fleet(NODE);
  private final InterceptingProxy proxy = fleet.proxy();
  private final LockManager locks = fleet.manager(proxy, clock);

  @Test
  void anExtensionRewritesTheStamp() {
    SetnxGrant grant = Fleet.granted(locks);
    clock.pass(Duration.ofSeconds(4));

    Extension extension = Fleet.answered(Fleet.extended(locks, grant));

    assertThat(extension).isInstanceOf(Extended.class);
    assertThat(clock.now().nanosUntil(((Extended) extension).validUntil()))
        .isEqualTo(Fleet.TTL.minusMillis(102).toNanos());
    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(15));
    assertThat(proxy.commandsAbout(KEY))
        .containsExactly(
            "SETNX " + KEY + " " + STAMP, "GET " + KEY, "GETSET " + KEY + " " + stamp(15));
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-3")
  @DisplayName("an extension never writes an earlier stamp")
  void anExtensionByLessKeepsTheLaterStamp() {
    SetnxGrant grant = Fleet.granted(locks);

    Extension extension =
        Fleet.answered(Fleet.primitive(locks).extend(grant, Duration.ofSeconds(5)));

    assertThat(extension).isInstanceOf(Extended.class);
    assertThat(fleet.say("GET", KEY)).isEqualTo(STAMP);
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-2")
  @DisplayName("a stamp that has passed, or nearly so, is not extended")
  void aStampThatHasNearlyPassedIsNotExtended() {
    SetnxGrant grant = Fleet.granted(locks);

    clock.pass(Duration.ofMillis(10_449)); // 251 ms before the stamp
    assertThat(Fleet.answered(Fleet.extended(locks, grant))).isInstanceOf(Extended.class);
    clock.pass(Duration.ofMillis(10_001)); // 250 ms before the next one
    assertThat(Fleet.answered(Fleet.extended(locks, grant)))
        .isEqualTo(new Lost(LossReason.EXPIRED));
    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(21));
  }

  @Test
  @Tag("exclusion")
  @Rule({"EXT-5", "EXT-6"})
  @DisplayName("an extension that finds no key puts nothing there")
  void anExtensionOfALockThatWasRemovedWritesNothing() {
    SetnxGrant grant = Fleet.granted(locks);
    fleet.say("DEL", KEY);

    assertThat(Fleet.answered(Fleet.extended(locks, grant)))
        .isEqualTo(new Lost(LossReason.REMOVED));
    assertThat(proxy.commandsAbout(KEY)).last().isEqualTo("GET " + KEY);
  }

  @Test
  @Tag("exclusion")
  @Rule({"EXT-5", "EXT-6"})
  @DisplayName("an extension that comes just after a removal leaves nothing")
  void extensionJustAfterARemovalLeavesNothing() {
    SetnxGrant grant = Fleet.granted(locks);
    proxy.before("GETSET", () -> fleet.say("DEL", KEY));

    assertThat(Fleet.answered(Fleet.extended(locks, grant)))
        .isEqualTo(new Lost(LossReason.REMOVED));
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  @Test
  @Rule("EXT-5")
  @DisplayName("an extension that finds a stamp that has expired was too late")
  void anExtensionThatFindsAnExpiredStampIsALoss() {
    SetnxGrant grant = Fleet.granted(locks);
    fleet.say("SET", KEY, stamp(-1));

    assertThat(Fleet.answered(Fleet.extended(locks, grant))).isEqualTo(new Lost(LossReason.TAKEN));
    assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(-1));
  }

  @Test
  @Rule("EXT-5")
  @DisplayName("an extension whose GETSET finds a stamp that has expired was too late")
  void anExtensionThatOverwritesAnExpiredStampIsALoss() {
    SetnxGrant grant = Fleet.granted(locks);
    proxy.before("GETSET", () -> fleet.say("SET", KEY, stamp(-1)));

    assertThat(Fleet.answered(Fleet.extended(locks, grant))).isEqualTo(new Lost(LossReason.TAKEN));
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(0L);
  }

  /** The holder without an answer holds the lock for the time that was left, and no longer. */
  @Test
  void anExtensionThatIsAnsweredTooLateChangesNothingForItsHolder() {
    LockManager impatient =
        fleet.manager(proxy, clock, settings -> settings.quorumTimeout(Duration.ofMillis(500)));
    SetnxGrant grant = Fleet.granted(impatient);
    clock.pass(Duration.ofSeconds(4));
    CountDownLatch arrives = new CountDownLatch(1);
    proxy.before("GETSET", () -> InterceptingProxy.passed(arrives));
    assertThat(Fleet.extended(impatient, grant)).failsWithin(5, TimeUnit.SECONDS);

    arrives.countDown();
    await().untilAsserted(() -> assertThat(fleet.say("GET", KEY)).isEqualTo(stamp(15)));
    clock.pass(Duration.ofSeconds(7)); // the stamp that the holder knows has passed

    assertThat(Fleet.answered(Fleet.released(impatient, grant))).contains(LossReason.EXPIRED);
    assertThat(fleet.say("EXISTS", KEY)).isEqualTo(1L);
  }
}
