package dev.holdfast.it;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.testsupport.Eventually;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** A client that does not give up: it connects again and asks for a lock, again and again. */
final class Persistent implements AutoCloseable {
  private static final Duration TTL = Duration.ofSeconds(1);

  private final AtomicInteger refusals = new AtomicInteger();
  private final AtomicInteger grants = new AtomicInteger();
  private final Thread thread;
  private volatile boolean closed;

  Persistent(Supplier<LockManager> opening) {
    thread = new Thread(() -> run(opening), "persistent client");
    thread.start();
  }

  private void run(Supplier<LockManager> opening) {
    while (!closed) {
      try (LockManager locks = opening.get()) {
        if (locks.tryAcquire("job", TTL).isPresent()) {
          grants.incrementAndGet();
        }
      } catch (LockConfigurationException e) {
        if (String.valueOf(e.getMessage()).contains("its clients gave")) {
          refusals.incrementAndGet();
        }
      } catch (LockException | InterruptedException e) {
        // it tries again
      }
    }
  }

  /** Until it has been refused a few times more. */
  void awaitRefusals() {
    int before = refusals.get();
    Eventually.soon().until(() -> refusals.get() >= before + 3);
  }

  int grants() {
    return grants.get();
  }

  @Override
  public void close() {
    closed = true;
    Eventually.soon().until(() -> !thread.isAlive());
  }
}
