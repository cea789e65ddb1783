package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On real processes. */
class ProcessTreeTest {
  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void end() {
    for (Process parent : started) {
      parent.descendants().forEach(ProcessHandle::destroyForcibly);
      parent.destroyForcibly();
    }
  }

  @Test
  void aZombieHasEnded() throws Exception {
    assumeThat(Path.of("/proc/self/stat")).as("what tells a zombie").exists();
    // After the exec nobody asks for the exit code of the first.
    ProcessHandle zombie = start("sleep 0.01 & echo $!; exec sleep 60");
    await()
        .atMost(Limits.LONG)
        .until(() -> ProcStat.of(zombie.pid()).filter(ProcStat::isZombie).isPresent());

    assertThat(zombie.isAlive()).as("as Java sees it").isTrue();
    assertThat(ProcessTree.awaitEnd(List.of(zombie), Duration.ZERO)).isTrue();
    assertThat(ProcessTree.of(List.of(parent()))).containsExactly(parent());
  }

  @Test
  void whatRunsHasNotEnded() throws Exception {
    ProcessHandle child = start("sleep 60 & echo $!; wait");

    assertThat(ProcessTree.awaitEnd(List.of(child), Duration.ofMillis(50))).isFalse();
    assertThat(ProcessTree.of(List.of(parent()))).containsExactly(parent(), child);
  }

  private ProcessHandle start(String script) throws IOException {
    Process parent = new ProcessBuilder("sh", "-c", script).start();
    started.add(parent);
    String pid = parent.inputReader(StandardCharsets.US_ASCII).readLine();
    return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
  }

  private ProcessHandle parent() {
    return started.get(0).toHandle();
  }
}
