package dev.holdfast.testsupport;

import java.util.concurrent.CompletableFuture;

/** A fake future that its consumer cannot cancel. Its result is on its way. */
public final class Uncancellable<T> extends CompletableFuture<T> {
  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    return false;
  }
}
