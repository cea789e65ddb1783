package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** The process that holds a lock is killed. */
@ForEachDriver
class ProcessDeathTest {
  private static final Duration RENEWED = Duration.ofSeconds(1);

  private final Backend backend;

  ProcessDeathTest(Backend backend) {
    this.backend = backend;
  }

  @Test
  @Rule({"FAULT-6", "ACQ-10"})
  void othersGetTheLockWithinTheTtl() throws IOException, InterruptedException {
    try (Cluster cluster = Cluster.of(backend)) {
      LockManager locks = cluster.open();
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-cp",
                  System.getProperty("java.class.path"),
                  Holder.class.getName(),
                  cluster.url() + "?nodeTimeout=300ms")
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      try (BufferedReader output =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        assertThat(output.readLine()).isEqualTo("held");
        assertThat(locks.tryAcquire("job", Cluster.TTL)).isEmpty();
      } finally {
        process.destroyForcibly();
      }
      process.waitFor();
      long killed = System.nanoTime();

      Lease lease =
          locks.acquire(LockRequest.of("job", Cluster.TTL).waitAtMost(Duration.ofSeconds(10)));

      assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(RENEWED.plusMillis(500));
      assertThat(lease.release()).isTrue();
    }
  }

  /** Holds the lock for as long as it lives. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] args) throws InterruptedException {
      LockManager locks = LockManager.open(args[0]);
      Lease lease =
          locks.acquire(LockRequest.of("job", RENEWED).keepAliveUpTo(Duration.ofHours(1)));
      System.out.println("held");
      new CountDownLatch(1).await();
      lease.close();
    }
  }
}
