package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each grant has a number above those before it, by which storage tells a late holder. */
abstract class FencingRules {
  final Trial trial;

  FencingRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that the counter is kept beside the lock, and survives its end")
  void fencingTokensIncreaseFromGrantToGrantOfAllManagers() {
    String name = trial.name("fenced");
    LockManager[] managers = {trial.open(), trial.open()};
    List<Long> tokens = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      Lease lease = trial.take(managers[i % 2], name, trial.ttl());
      tokens.add(lease.fencingToken().orElseThrow());
      Attempts.giveBack(trial, lease);
    }

    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that a token is known to a quorum before the lock is granted")
  void fencingTokensIncreaseWhicheverNodesGrant() {
    trial.needsNodes(3);
    String name = trial.name("fenced");
    LockManager[] managers = {trial.open(), trial.open()};
    List<Long> tokens = new ArrayList<>();
    for (List<TckNode> granting : Subsets.of(trial.nodes())) {
      if (granting.size() == trial.quorum()) {
        trial.occupy(trial.nodesBut(granting), name);
        Lease lease = trial.take(managers[tokens.size() % 2], name, trial.ttl());
        tokens.add(lease.fencingToken().orElseThrow());
        Attempts.giveBack(trial, lease);
      }
    }

    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that fencing tokens do not follow the wall clock back")
  void fencingTokensIncreaseThoughTheClockIsSetBack() {
    TckClock clock = trial.needsClock();
    String name = trial.name("fenced");
    Lease before = trial.take(trial.open(), name, trial.ttl());
    long token = before.fencingToken().orElseThrow();
    Attempts.giveBack(trial, before);

    clock.step(Duration.ofHours(-1));

    Lease after = trial.take(trial.open(), name, trial.ttl());
    assertThat(after.fencingToken().orElseThrow()).isGreaterThan(token);
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that the largest number of a quorum is stored by a quorum before the grant")
  void fencingTokensIncreaseWhicheverNodesGrantThoughTheClockIsSetBack() {
    trial.needsNodes(3);
    TckClock clock = trial.needsClock();
    String name = trial.name("fenced");
    List<Long> tokens = new ArrayList<>();
    for (List<TckNode> granting : Subsets.of(trial.nodes())) {
      if (granting.size() == trial.quorum()) {
        trial.occupy(trial.nodesBut(granting), name);
        Lease lease = trial.take(trial.open(), name, trial.ttl()); // which has seen no token yet
        tokens.add(lease.fencingToken().orElseThrow());
        Attempts.giveBack(trial, lease);
        clock.step(Duration.ofHours(tokens.size() == 1 ? -1 : 0));
      }
    }

    assertThat(tokens).isSorted().doesNotHaveDuplicates();
  }
}
