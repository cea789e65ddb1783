package dev.holdfast;

/**
 * Keeps interrupts for a loss away from a thread, from {@link Locks#postponeInterrupts()} until it
 * is closed.
 */
@FunctionalInterface
public interface InterruptShield extends AutoCloseable {
  /**
   * Ends the shield: what it postponed comes now, unless another shield is open. Does nothing the
   * second time, after the end of the task in which it was opened, and on another thread.
   */
  @Override
  void close();
}
