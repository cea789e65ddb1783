package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Contention says which owner holds the lock, where that is known. */
class HolderLabelsTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL).waitAtMost(Duration.ZERO);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);

  @Test
  void contentionNamesTheHolder() {
    backend.giveToAnother("x", TTL);

    LockContendedException contended = thrownBy(manager());

    assertThat(contended.holder()).contains("another");
    assertThat(contended.isHeldByThisManager()).isFalse();
    assertThat(contended).hasMessageContaining("held by another owner, 'another'");
  }

  @Test
  void contentionWithinOneManagerNeedsNoInspection() throws Exception {
    LockManager manager = manager();
    Lease held = manager.acquire(REQUEST);

    LockContendedException contended = thrownBy(manager);

    assertThat(contended.isHeldByThisManager()).isTrue();
    assertThat(contended).hasMessageContaining("this very manager").hasMessageContaining("asLock");
    assertThat(backend.calls(Op.INSPECT)).isEmpty();
    held.close();
  }

  @Test
  void endedLeaseIsNotReportedAsTheHolder() throws Exception {
    LockManager manager = manager();
    manager.acquire(REQUEST).close();
    backend.giveToAnother("x", TTL);

    assertThat(thrownBy(manager).isHeldByThisManager()).isFalse();
  }

  @Test
  void holderIsNotInspectedIfNothingIsThrown() throws Exception {
    backend.giveToAnother("x", TTL);

    assertThat(manager().tryAcquire(REQUEST)).isEmpty();
    assertThat(backend.calls(Op.INSPECT)).isEmpty();
  }

  @Test
  void failedInspectionOmitsTheLabel() {
    backend.giveToAnother("x", TTL);
    backend.failing(Op.INSPECT, new LockOutageException("down", Map.of(), false));

    assertThat(thrownBy(manager()).holder()).isEmpty();
  }

  @Test
  void unansweredInspectionDelaysNothing() {
    backend.giveToAnother("x", TTL);
    backend.holdBack(Op.INSPECT);

    assertThat(thrownBy(manager()).holder()).isEmpty();
  }

  @Test
  void backendWithoutInspectionIsNotInspected() {
    backend.giveToAnother("x", TTL);
    backend.declare(Set.of(LockCapability.EXTENSION));

    assertThat(thrownBy(manager()).holder()).isEmpty();
    assertThat(backend.calls(Op.INSPECT)).isEmpty();
  }

  @Test
  void waitersThatTimeOutTogetherShareOneInspection() throws Exception {
    backend.giveToAnother("x", TTL);
    HolderLabels holders = new HolderLabels(name -> backend.inspect(name), TTL);
    backend.holdBack(Op.INSPECT);
    List<Background<String>> waiting = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      waiting.add(Background.run(() -> holders.labelOf("x").orElse("unknown")));
    }
    Awaitility.await().until(() -> backend.waitingForAnswers() > 0);
    waiting.forEach(Background::awaitBlocked);

    assertThat(backend.calls(Op.INSPECT)).hasSize(1);
    backend.next().answer();

    for (Background<String> waiter : waiting) {
      assertThat(waiter.result()).isEqualTo("another");
    }
    backend.answerAtOnce(Op.INSPECT);
    assertThat(holders.labelOf("x")).contains("another");
  }

  private LockManager manager() {
    return ScriptedBackend.manager(backend, time).build();
  }

  private static LockContendedException thrownBy(LockManager manager) {
    return catchThrowableOfType(LockContendedException.class, () -> manager.acquire(REQUEST));
  }
}
