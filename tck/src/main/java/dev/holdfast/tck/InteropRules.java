package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Clients of other languages share the locks. The kit plays one from behind: what it writes is what
 * {@code SET key value NX PX ttl} leaves, and it compares before it deletes.
 */
abstract class InteropRules {
  private static final String FOREIGN_VALUE = "1f0a2b3c-foreign";

  final Trial trial;

  InteropRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("INT-1")
  @IfThisFails("check that the key is the name, and that any value in it keeps others out")
  void aForeignClientKeepsUsOut() throws InterruptedException {
    trial.needsNodes(1);
    String name = trial.name("größe, 数字");
    LockManager locks = trial.open();
    List<TckNode> quorum = trial.nodes();
    quorum.forEach(node -> node.occupy(name, FOREIGN_VALUE, trial.foreignTtl()));

    assertThat(trial.gets(locks, name)).isFalse();

    quorum.forEach(node -> node.remove(name));
    assertThat(trial.gets(locks, name)).as("when the foreign client has gone").isTrue();
  }

  @Test
  @Rule("INT-1")
  @IfThisFails("check that a grant is the token in the key of the name, with a time to live")
  void weKeepAForeignClientOut() {
    trial.needsNodes(1);
    String name = trial.name("größe, 数字");
    Lease lease = trial.take(trial.open(), name, trial.ttl());

    trial
        .soon()
        .until(
            "all nodes held the token",
            () -> trial.holding(name, lease.token()) == trial.nodes().size());

    assertThat(trial.nodes())
        .allSatisfy(
            node -> assertThat(node.timeToLive(name)).isBetween(Duration.ofMillis(1), trial.ttl()));
    assertThat(foreignCompareAndDelete(name)).as("keys that are a foreign client's").isZero();
    assertThat(trial.holding(name, lease.token())).isEqualTo(trial.nodes().size());
  }

  @Test
  @Rule("INT-1")
  @IfThisFails("check that nothing is asked of a foreign key but that it ends")
  void whatAForeignClientLeavesBehindIsOursWhenItExpires() {
    trial.needsNodes(1);
    trial.needsExpiry();
    String name = trial.name("left");
    trial.nodes().forEach(node -> node.occupy(name, FOREIGN_VALUE, Duration.ofMillis(100)));

    trial.take(trial.open(), name, trial.ttl());
  }

  private int foreignCompareAndDelete(String name) {
    int deleted = 0;
    for (TckNode node : trial.nodes()) {
      if (node.holder(name).equals(Optional.of(FOREIGN_VALUE))) {
        node.remove(name);
        deleted++;
      }
    }
    return deleted;
  }
}
