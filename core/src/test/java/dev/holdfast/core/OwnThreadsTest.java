package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class OwnThreadsTest {
  @Test
  @Rule("CLOSE-4")
  @DisplayName("the threads that a manager started end with it")
  void theThreadsThatAManagerStartedEndWithIt() throws Exception {
    Set<Thread> before = threads();
    LockManager manager = LockManagerBuilder.over(new ScriptedBackend(Clock.system())).build();
    manager.acquire(LockRequest.of("x", Duration.ofSeconds(30)));
    Set<Thread> own = threads();
    own.removeAll(before);
    assertThat(own).as("a timer for the end of the lease").isNotEmpty();

    manager.close();
    await().until(() -> own.stream().noneMatch(Thread::isAlive));
  }

  private static Set<Thread> threads() {
    Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
    threads.removeIf(thread -> !thread.getName().startsWith("holdfast-"));
    return threads;
  }
}
