package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.cli.Limits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sessions of real processes. */
class SessionTest {
  private final List<Process> started = new ArrayList<>();

  @BeforeEach
  void onLinux() {
    assumeThat(Path.of("/proc/self/stat")).as("where sessions are found").exists();
  }

  @AfterEach
  void end() {
    for (Process parent : started) {
      parent.descendants().forEach(ProcessHandle::destroyForcibly);
      parent.destroyForcibly();
    }
  }

  @Test
  void aZombieHasEnded() throws Exception {
    // After the exec nothing asks for the exit code of the first.
    ProcessHandle zombie = start("sleep 0.01 & echo $!; exec sleep 60");
    await()
        .atMost(Limits.LONG)
        .until(() -> ProcStat.of(zombie.pid()).filter(ProcStat::isZombie).isPresent());

    assertThat(zombie.isAlive()).as("as Java sees it").isTrue();
    assertThat(Session.runs(zombie)).isFalse();
    assertThat(new Session(leader().pid()).members()).containsExactly(leader());
  }

  @Test
  void aProcessWhoseParentHasEndedIsAMemberAndIsKilled() throws Exception {
    ProcessHandle orphan = start("(sleep 60 & echo $!); exec sleep 60");
    Session session = new Session(leader().pid());
    await().atMost(Limits.LONG).until(() -> leader().descendants().noneMatch(orphan::equals));
    assertThat(session.members()).containsExactlyInAnyOrder(leader(), orphan);

    assertThat(session.kill(Limits.LONG)).isTrue();

    assertThat(Session.runs(orphan)).isFalse();
    assertThat(Session.runs(leader())).isFalse();
  }

  @Test
  void killingGivesUpAfterItsTime() throws Exception {
    start("sleep 60 & echo $!; wait");

    assertThat(new Session(leader().pid()).kill(Duration.ZERO)).isFalse();
  }

  private ProcessHandle start(String script) throws IOException {
    Process parent = new ProcessBuilder("setsid", "sh", "-c", script).start();
    started.add(parent);
    String pid = parent.inputReader(StandardCharsets.US_ASCII).readLine();
    return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
  }

  private ProcessHandle leader() {
    return started.get(0).toHandle();
  }
}
