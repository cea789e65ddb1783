package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Call;
import dev.holdfast.core.ScriptedBackend.Op;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The threads of callers that wait, which a backend may use for its input and output. */
class LentThreadTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  void aCallerThatWaitsLendsItsThread() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    String text = lease.transfer(TTL);
    manager.adopt(text, REQUEST).release();

    assertThat(lent(Op.ATTEMPT)).containsExactly(true);
    assertThat(lent(Op.ADOPT)).containsExactly(true);
    assertThat(lent(Op.RELEASE)).containsExactly(true);
  }

  @Test
  void aCallerThatDoesNotWaitLendsNone() throws Exception {
    Lease lease = manager.tryAcquireAsync(REQUEST).join().orElseThrow();
    String text = lease.transferAsync(TTL).join();
    manager.adoptAsync(text, REQUEST).join().releaseAsync().join();

    assertThat(lent(Op.ATTEMPT)).containsExactly(false);
    assertThat(lent(Op.ADOPT)).containsExactly(false);
    assertThat(lent(Op.RELEASE)).containsExactly(false);
  }

  @Test
  void backendThatThrowsOnALentThreadLeavesNoLockAndNoWaiter() throws Exception {
    backend.throwAfterLending(new IllegalStateException("broken"));
    assertThatThrownBy(() -> manager.tryAcquire(REQUEST)).hasMessage("broken");
    assertThat(backend.holder("x")).isEmpty();

    backend.holdBack(Op.ATTEMPT);
    assertThatThrownBy(() -> manager.tryAcquire(REQUEST)).hasMessage("broken");
    backend.next().answer();
    assertThat(backend.holder("x")).isEmpty();

    backend.answerAtOnce(Op.ATTEMPT);
    assertThat(manager.tryAcquireAsync(REQUEST).join()).isPresent();
  }

  @Test
  void backendThatThrowsOnALentThreadLeavesNoAdoptedLock() throws Exception {
    String text = manager.acquire(REQUEST).transfer(TTL);
    backend.throwAfterLending(new IllegalStateException("broken"));
    assertThatThrownBy(() -> manager.adopt(text, REQUEST)).hasMessage("broken");
    assertThat(backend.holder("x")).isEmpty();
    assertThat(manager.leases()).isEmpty();
  }

  @Test
  @Rule({"LISTEN-1", "LISTEN-11"})
  void aCallerThatIsInterruptedBeforeItsRequestIsReportedOnceAndDoesNotWait() {
    List<String> events = new ArrayList<>();
    manager.addListener(
        new LockListener() {
          @Override
          public void onNotGranted(String name, Failure failure, long waitedNanos) {
            events.add(failure.name());
          }

          @Override
          public void onLoad(int waiting, int inFlight) {
            events.add(waiting + "/" + inFlight);
          }
        });
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> manager.acquire(REQUEST)).isInstanceOf(InterruptedException.class);

    CompletableFuture<?> next = manager.tryAcquireAsync(REQUEST);
    assertThat(next).isCompleted();
    assertThat(events).startsWith("INTERRUPTED", "1/0").endsWith("0/0");
  }

  private List<Boolean> lent(Op op) {
    return backend.calls(op).stream().map(Call::isLent).toList();
  }
}
