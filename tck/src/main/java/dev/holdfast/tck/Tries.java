package dev.holdfast.tck;

/**
 * Tries again what a machine that stalls can make a right manager fail, but nothing a wrong one
 * pass. Whoever is interrupted, because a test has taken too long, tries nothing any more.
 */
final class Tries {
  private static final int MOST = 3;

  private Tries() {}

  /** Returns after the first that goes well, and throws what the last one threw if none does. */
  static void anyOf(Eventually.Assertions once) {
    for (int i = 1; i < MOST; i++) {
      try {
        run(once);
        return;
      } catch (AssertionError e) {
        if (Thread.currentThread().isInterrupted()) {
          throw e;
        }
        PassedOver.add(e);
      }
    }
    run(once);
  }

  private static void run(Eventually.Assertions once) {
    try {
      once.run();
    } catch (RuntimeException e) {
      throw e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
