package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.tck.rules.CriticalSection;
import dev.holdfast.tck.rules.Workers;
import dev.holdfast.testsupport.Rule;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** A thousand virtual threads at once. */
@ForEachDriver
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "virtual threads came with JDK 21")
class VirtualThreadsTest {
  private static final int THREADS = 1_000;

  private final Cluster cluster;
  private final LockManager locks;

  VirtualThreadsTest(Backend backend) {
    cluster = Cluster.of(backend);
    locks = cluster.open();
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  @Tag("exclusion")
  @Rule({"ACQ-1", "WAIT-5"})
  void contendForOneNameWithoutADeadlock() throws Exception {
    CriticalSection section = new CriticalSection();
    try (Workers workers = new Workers(virtualThreads())) {
      for (int i = 0; i < THREADS; i++) {
        workers.start(
            () -> {
              try (Lease lease = locks.acquire("one", Cluster.TTL)) {
                lease.requireHeld();
                section.enter();
              }
            });
      }
      workers.join();
    }

    assertThat(section.entries()).isEqualTo(THREADS);
    section.assertNeverTwo();
    cluster.awaitNoLocks();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-2")
  void takeAThousandNamesAtOnceWithoutADeadlock() throws Exception {
    AtomicInteger granted = new AtomicInteger();
    try (Workers workers = new Workers(virtualThreads())) {
      for (int i = 0; i < THREADS; i++) {
        String name = "one of many " + i;
        workers.start(
            () -> {
              try (Lease lease = locks.acquire(name, Cluster.TTL)) {
                lease.requireHeld();
                granted.incrementAndGet();
              }
            });
      }
      workers.join();
    }

    assertThat(granted).hasValue(THREADS);
    cluster.awaitNoLocks();
  }

  private static ExecutorService virtualThreads() throws ReflectiveOperationException {
    return (ExecutorService)
        Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
  }
}
