package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A listener whose calls take long. */
class SlowListenerTest {
  private static final LockRequest REQUEST = LockRequest.of("x", Duration.ofSeconds(30));

  private final ManualTime time = new ManualTime();
  private final LockManager manager =
      ScriptedBackend.manager(new ScriptedBackend(time), time).build();

  private void listenSlowly(Runnable afterwards) {
    manager.addListener(
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            time.passUnnoticed(Duration.ofMillis(21));
            afterwards.run();
          }
        });
  }

  @Test
  void aSlowCallIsLoggedOnceAMinute() throws Exception {
    listenSlowly(() -> {});
    try (Warnings warnings = Warnings.of(LockListener.class)) {
      assertThat(manager.acquire(REQUEST).release()).isTrue();
      assertThat(manager.acquire(REQUEST).release()).isTrue();
      assertThat(warnings.texts()).hasSize(1);

      time.passUnnoticed(Duration.ofMinutes(1));
      assertThat(manager.acquire(REQUEST).release()).isTrue();

      assertThat(warnings.texts()).hasSize(2);
      assertThat(warnings.texts().get(0)).contains("took 21 ms", "return at once");
    }
  }

  @Test
  @Rule("LISTEN-9")
  @DisplayName("a call that takes long and throws is logged for both")
  void aSlowCallThatThrowsIsLoggedAsSlow() throws Exception {
    listenSlowly(
        () -> {
          throw new IllegalStateException("a test's");
        });
    try (Warnings warnings = Warnings.of(LockListener.class)) {
      assertThat(manager.acquire(REQUEST).release()).isTrue();

      assertThat(warnings.texts())
          .hasSize(2)
          .anySatisfy(text -> assertThat(text).contains("took 21 ms"))
          .anySatisfy(text -> assertThat(text).contains("failed"));
    }
  }
}
