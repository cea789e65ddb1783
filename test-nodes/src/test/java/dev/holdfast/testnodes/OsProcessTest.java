package dev.holdfast.testnodes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.LongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OsProcessTest {
  private Process child;

  @BeforeEach
  void startChild() throws Exception {
    child = new ProcessBuilder("/bin/sh", "-c", "sleep 60; exit").start();
  }

  @AfterEach
  void killChild() {
    child.descendants().forEach(ProcessHandle::destroyForcibly);
    child.destroyForcibly();
  }

  @Test
  void isSeenInProc() throws Exception {
    assumeThat(Path.of("/proc/self/stat")).isReadable();
    isSeenRunningStoppedAndGone(OsProcess::fromProc);
  }

  @Test
  void isSeenByPsWhereThereIsNoProc() throws Exception {
    assumeThat(Path.of("/bin/ps")).isExecutable();
    isSeenRunningStoppedAndGone(OsProcess::fromPs);
  }

  private void isSeenRunningStoppedAndGone(LongFunction<Optional<OsProcess>> look)
      throws Exception {
    OsProcess running = look.apply(child.pid()).orElseThrow();
    assertThat(running.isStopped()).isFalse();
    assertThat(running.isEnding()).isFalse();
    assertThat(running.commandLine()).isEqualTo("/bin/sh -c sleep 60; exit");

    running.signal("STOP");
    assertThat(Waiting.until(Limits.LONG, () -> look.apply(child.pid()).orElseThrow().isStopped()))
        .isTrue();

    running.kill();
    child.waitFor();
    assertThat(look.apply(child.pid())).isEmpty();
  }
}
