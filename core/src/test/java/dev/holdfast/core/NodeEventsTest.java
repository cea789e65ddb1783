package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockListener;
import dev.holdfast.LockNode;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class NodeEventsTest {
  private static final int MAX_WAITING = 10_000;
  private static final Duration GATHERING = Duration.ofMillis(10);

  private final ManualTime time = new ManualTime();
  private final Listeners listeners = new Listeners(time);
  private final NodeEvents events = new NodeEvents(listeners, time);
  private final AtomicInteger votes = new AtomicInteger();
  private final AtomicInteger changes = new AtomicInteger();

  NodeEventsTest() {
    time.forkAtOnce();
    listeners.add(
        new LockListener() {
          @Override
          public void onVote(String node, Vote vote) {
            votes.incrementAndGet();
          }

          @Override
          public void onNode(String node, LockNode.State state, String cause) {
            changes.incrementAndGet();
          }
        });
  }

  @Test
  @Rule("LISTEN-12")
  @DisplayName("the number of votes that are not reported is logged once a minute")
  void droppedVotesAreLoggedOnceAMinuteWithTheirNumber() throws Exception {
    try (Warnings warnings = Warnings.of(LockListener.class)) {
      voteAndReport(MAX_WAITING);
      assertThat(warnings.texts()).isEmpty();

      voteAndReport(MAX_WAITING + 3);
      assertThat(warnings.texts()).hasSize(1);
      assertThat(warnings.texts().get(0)).startsWith("3 votes of nodes were dropped");

      voteAndReport(MAX_WAITING + 2);
      assertThat(warnings.texts()).hasSize(1);
      time.advance(Duration.ofMinutes(1).plus(GATHERING));
      assertThat(warnings.texts()).hasSize(2);
      assertThat(warnings.texts().get(1)).startsWith("2 votes");

      voteAndReport(MAX_WAITING + 5);
      assertThat(warnings.texts()).hasSize(2);
      events.warnOfDropped(); // as the end of the manager does
      assertThat(warnings.texts().get(2)).startsWith("5 votes");
      assertThat(votes).hasValue(4 * MAX_WAITING);
    }
  }

  @Test
  void changesOfNodesAreNeverDropped() throws Exception {
    try (Warnings warnings = Warnings.throwing(LockListener.class)) {
      for (int i = 0; i < MAX_WAITING + 1; i++) {
        events.onVote("h1", LockListener.Vote.SILENT);
      }
      events.onNode("h1", LockNode.State.DOWN, "refused");
      time.advance(GATHERING);

      assertThat(votes).hasValue(MAX_WAITING);
      assertThat(changes).hasValue(1);
      assertThat(warnings.texts()).hasSize(1);
    }
  }

  private void voteAndReport(int number) {
    for (int i = 0; i < number; i++) {
      events.onVote("h1", LockListener.Vote.GRANTED);
    }
    time.advance(GATHERING);
  }
}
