package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The owner label, which inspection shows as the holder. */
class OwnerTest {
  private static final LockRequest REQUEST = LockRequest.of("x", Duration.ofSeconds(30));

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);

  @Test
  void defaultLabelIsHostAndProcess() throws Exception {
    assertThat(ownerOf(builder().build(), REQUEST))
        .matches("[^:]+:" + ProcessHandle.current().pid());
  }

  @Test
  void requestWithoutALabelHasThatOfTheManager() throws Exception {
    assertThat(ownerOf(builder().ownerLabel("nightly").build(), REQUEST)).isEqualTo("nightly");
  }

  @Test
  void labelOfTheRequestOverridesThatOfTheManager() throws Exception {
    assertThat(ownerOf(builder().ownerLabel("nightly").build(), REQUEST.ownerLabel("alice")))
        .isEqualTo("alice");
  }

  private LockManagerBuilder builder() {
    return LockManagerBuilder.over(backend).clock(time).scheduler(time).callbacks(Runnable::run);
  }

  private static String ownerOf(LockManager manager, LockRequest request) throws Exception {
    manager.acquire(request);
    return manager.inspect("x").map(LockStatus::ownerLabel).orElseThrow();
  }
}
