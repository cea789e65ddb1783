package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Holders and operators see what the backend granted. */
class GrantedTest {
  private static final LockRequest REQUEST = LockRequest.of("x", Duration.ofSeconds(30));

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @DisplayName("a lease shows the numbers of its own grant")
  void aLeaseShowsTheNumbersOfItsOwnGrant() throws Exception {
    Lease first = manager.acquire(REQUEST);
    assertThat(first.release()).isTrue();
    Lease second = manager.acquire(REQUEST);

    assertThat(first.fencingToken()).hasValue(1);
    assertThat(first.token()).isEqualTo("tester:1");
    assertThat(second.fencingToken()).hasValue(2);
    assertThat(second.token()).isEqualTo("tester:2");
  }

  @Test
  @Rule("INSP-2")
  @DisplayName("a forced release of a free lock is false")
  void forcedReleaseOfAFreeLockIsFalse() {
    assertThat(manager.forceRelease("x")).isFalse();
  }

  @Test
  void unwrapReturnsTheManagerItsBackendAndTheBackendsObjects() {
    assertThat(manager.unwrap(CoreLockManager.class).orElseThrow()).isSameAs(manager);
    assertThat(manager.unwrap(ScriptedBackend.class)).containsSame(backend);
    assertThat(manager.unwrap(String.class)).isEqualTo(Optional.of("given by the backend"));
    assertThat(manager.unwrap(Integer.class)).isEmpty();
  }
}
