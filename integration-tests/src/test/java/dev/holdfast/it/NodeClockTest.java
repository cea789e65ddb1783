package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.tck.Rule;
import dev.holdfast.testnodes.NodeSource;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A node whose clock is wrong when it comes back without its data, and is set right then. Needs a
 * library that shifts the clock of one process, by the system property {@value #SHIM}: it is
 * preloaded, and reads microseconds from the file that CLOCK_SHIM_FILE names.
 */
class NodeClockTest {
  private static final String SHIM = "holdfast.clockShim";
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration TTL = Duration.ofSeconds(20);

  @TempDir private Path folder;
  private TestNodes sound;
  private TestNodes shifted;

  @BeforeEach
  void start() throws IOException {
    String library = System.getProperty(SHIM, "");
    assumeThat(library).as("-D" + SHIM).isNotEmpty();
    sound = TestNodes.start(2);
    shift(Duration.ZERO);
    String server =
        ProcessHandle.of(sound.node(0).pid()).flatMap(p -> p.info().command()).orElseThrow();
    // a server may be one of many programs in a file, and goes by the name that it is called by
    Path named = Files.createDirectory(folder.resolve("named")).resolve("redis-server");
    Files.createSymbolicLink(named, Path.of(server));
    Path wrapper = folder.resolve("redis-server");
    Files.writeString(
        wrapper,
        "#!/bin/sh\nLD_PRELOAD='%s' CLOCK_SHIM_FILE='%s' exec '%s' \"$@\"\n"
            .formatted(library, shiftFile(), named));
    Files.setPosixFilePermissions(wrapper, PosixFilePermissions.fromString("rwx------"));
    shifted = TestNodes.builder().count(1).source(NodeSource.binary(wrapper)).start();
  }

  @AfterEach
  void stop() {
    if (sound != null) {
      sound.close();
    }
    if (shifted != null) {
      shifted.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, -1})
  @Rule("GUARD-1")
  void aClockThatIsAnHourOffAtTheRestartShortensNoQuarantine(int sign) throws Exception {
    TestNode forgets = shifted.node(0);
    TestNode free = sound.node(1);
    try (LockManager holder = open();
        LockManager other = open()) {
      free.command("SET", "job", "another's", "PX", "60000");
      Lease lease = holder.tryAcquire("job", TTL).orElseThrow();
      free.command("DEL", "job");
      shift(HOUR.multipliedBy(sign));
      forgets.restart();
      assertThat(secondsOf(forgets) - secondsOf(free))
          .as("the clock that it restarts with")
          .isBetween(sign * HOUR.toSeconds() - 5, sign * HOUR.toSeconds() + 5);
      Cluster.awaitVoteOf(forgets, other);
      shift(Duration.ZERO);
      for (int i = 0; i < 10; i++) {
        assertThat(other.tryAcquire("job", TTL)).isEmpty();
      }
      lease.requireHeld();
    }
  }

  private LockManager open() {
    String url =
        Backend.all()
            .get(0)
            .urlOf(List.of(sound.uris().get(0), shifted.uris().get(0), sound.uris().get(1)));
    return LockManager.open(url, Map.of("nodeTimeout", "2s", "retryDelay", "20ms"));
  }

  private Path shiftFile() {
    return folder.resolve("shift");
  }

  private void shift(Duration by) throws IOException {
    ByteBuffer micros = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    micros.putLong(TimeUnit.NANOSECONDS.toMicros(by.toNanos()));
    // written over, because the process has it in its memory
    if (Files.exists(shiftFile())) {
      try (RandomAccessFile file = new RandomAccessFile(shiftFile().toFile(), "rw")) {
        file.write(micros.array());
      }
    } else {
      Files.write(shiftFile(), ByteBuffer.allocate(4096).put(micros.array()).array());
    }
  }

  private static long secondsOf(TestNode node) {
    return node.command("TIME") instanceof List<?> time
        ? Long.parseLong(String.valueOf(time.get(0)))
        : 0;
  }
}
