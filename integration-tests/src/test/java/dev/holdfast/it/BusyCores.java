package dev.holdfast.it;

import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/** Keeps every core busy during a test. */
final class BusyCores implements BeforeEachCallback, AfterEachCallback {
  private static final Namespace OURS = Namespace.create(BusyCores.class);

  @Override
  public void beforeEach(ExtensionContext context) {
    Spin spin = new Spin();
    context.getStore(OURS).put(Spin.class, spin);
    IntStream.range(0, Runtime.getRuntime().availableProcessors())
        .mapToObj(core -> new Thread(spin, "busy-" + core))
        .forEach(
            thread -> {
              thread.setDaemon(true);
              thread.start();
            });
  }

  @Override
  public void afterEach(ExtensionContext context) {
    Spin spin = context.getStore(OURS).get(Spin.class, Spin.class);
    if (spin != null) {
      spin.ended = true;
    }
  }

  private static final class Spin implements Runnable {
    private volatile boolean ended;

    @Override
    public void run() {
      while (!ended) {
        Thread.onSpinWait();
      }
    }
  }
}
