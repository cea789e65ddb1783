package dev.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Chaos finds what is broken on purpose: a chaos that finds nothing proves nothing. */
class BreaksTest {
  @Test
  @Tag("soak")
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  @DisplayName("without the restart guard, nodes that forget let two in, and the judge sees it")
  void withoutTheGuardTwoAreSeen() throws Exception {
    List<NodeFault> forgetting = List.of(NodeFault.RESTARTED_EMPTY, NodeFault.FLUSHED);
    Duration length = Duration.ofMinutes(1);
    Chaos unguarded =
        new Chaos("lettuce", 3, 1, length, forgetting, List.of(), "&restartGuard=off");

    Verdict verdict = unguarded.run(Chaos.folder("unguarded"));

    System.out.println(verdict.row("without the guard"));
    assertThat(verdict.overlaps()).isNotEmpty();
  }
}
