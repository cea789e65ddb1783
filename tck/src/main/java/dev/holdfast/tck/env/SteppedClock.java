package dev.holdfast.tck.env;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * The machine's wall clock, which can be set. For managers that an environment opens with {@link
 * dev.holdfast.ManagerBuilder#wallClock}. Thread-safe.
 */
public final class SteppedClock implements TckClock, InstantSource {
  private final AtomicReference<Duration> ahead = new AtomicReference<>(Duration.ZERO);

  /** Makes a clock that is right. */
  public SteppedClock() {}

  /**
   * Returns a clock if the managers of a backend take one.
   *
   * @param open opens a manager with the clock, which is closed again
   * @return empty if the backend refuses the clock
   */
  public static Optional<SteppedClock> of(Function<SteppedClock, LockManager> open) {
    SteppedClock clock = new SteppedClock();
    try {
      open.apply(clock).close();
      return Optional.of(clock);
    } catch (LockConfigurationException e) {
      return Optional.empty();
    } catch (LockException e) {
      return Optional.of(clock); // it took its settings before it asked the nodes
    }
  }

  @Override
  public Instant instant() {
    return InstantSource.system().instant().plus(ahead.get());
  }

  @Override
  public void step(Duration by) {
    ahead.accumulateAndGet(by, Duration::plus);
  }
}
