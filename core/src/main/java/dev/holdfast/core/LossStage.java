package dev.holdfast.core;

import dev.holdfast.LossReason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The stage that completes when a lease is lost. All calls share it, so that asking for it costs no
 * memory. Users cannot complete it. Each stage that depends on it is a task of its own for the
 * callback executor, or for the executor that the user names, so that none waits for another.
 */
final class LossStage extends CompletableFuture<LossReason> {
  private final Surroundings surroundings;
  private volatile @Nullable LossStage shared;

  LossStage(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  /** Completes it. Called on a thread that nothing else waits for. */
  void tell(LossReason reason) {
    super.complete(reason);
  }

  /**
   * Returns a second stage, shared too: the static methods of {@link CompletableFuture} run what
   * depends on their arguments at once, on the thread that completes them.
   */
  @Override
  public CompletableFuture<LossReason> toCompletableFuture() {
    LossStage present = shared;
    return present == null ? share() : present;
  }

  private synchronized LossStage share() {
    LossStage present = shared;
    if (present == null) {
      present = new LossStage(surroundings);
      present.shared = present;
      LossReason reason = getNow(null);
      if (reason == null) {
        super.thenAcceptAsync(present::tell, surroundings.scheduler()::fork);
      } else {
        present.tell(reason);
      }
      shared = present;
    }
    return present;
  }

  private Executor callbacks() {
    return surroundings.callbacks();
  }

  private Executor apart(Executor executor) {
    return new UserExecutor(executor, surroundings.scheduler());
  }

  @Override
  public <U> CompletableFuture<U> thenApply(Function<? super LossReason, ? extends U> f) {
    return super.thenApplyAsync(f, callbacks());
  }

  @Override
  public <U> CompletableFuture<U> thenApplyAsync(
      Function<? super LossReason, ? extends U> f, Executor executor) {
    return super.thenApplyAsync(f, apart(executor));
  }

  @Override
  public CompletableFuture<Void> thenAccept(Consumer<? super LossReason> f) {
    return super.thenAcceptAsync(f, callbacks());
  }

  @Override
  public CompletableFuture<Void> thenAcceptAsync(
      Consumer<? super LossReason> f, Executor executor) {
    return super.thenAcceptAsync(f, apart(executor));
  }

  @Override
  public CompletableFuture<Void> thenRun(Runnable f) {
    return super.thenRunAsync(f, callbacks());
  }

  @Override
  public CompletableFuture<Void> thenRunAsync(Runnable f, Executor executor) {
    return super.thenRunAsync(f, apart(executor));
  }

  @Override
  public <U, V> CompletableFuture<V> thenCombine(
      CompletionStage<? extends U> other,
      BiFunction<? super LossReason, ? super U, ? extends V> f) {
    return super.thenCombineAsync(other, f, callbacks());
  }

  @Override
  public <U, V> CompletableFuture<V> thenCombineAsync(
      CompletionStage<? extends U> other,
      BiFunction<? super LossReason, ? super U, ? extends V> f,
      Executor executor) {
    return super.thenCombineAsync(other, f, apart(executor));
  }

  @Override
  public <U> CompletableFuture<Void> thenAcceptBoth(
      CompletionStage<? extends U> other, BiConsumer<? super LossReason, ? super U> f) {
    return super.thenAcceptBothAsync(other, f, callbacks());
  }

  @Override
  public <U> CompletableFuture<Void> thenAcceptBothAsync(
      CompletionStage<? extends U> other,
      BiConsumer<? super LossReason, ? super U> f,
      Executor executor) {
    return super.thenAcceptBothAsync(other, f, apart(executor));
  }

  @Override
  public CompletableFuture<Void> runAfterBoth(CompletionStage<?> other, Runnable f) {
    return super.runAfterBothAsync(other, f, callbacks());
  }

  @Override
  public CompletableFuture<Void> runAfterBothAsync(
      CompletionStage<?> other, Runnable f, Executor executor) {
    return super.runAfterBothAsync(other, f, apart(executor));
  }

  @Override
  public <U> CompletableFuture<U> applyToEither(
      CompletionStage<? extends LossReason> other, Function<? super LossReason, U> f) {
    return super.applyToEitherAsync(other, f, callbacks());
  }

  @Override
  public <U> CompletableFuture<U> applyToEitherAsync(
      CompletionStage<? extends LossReason> other,
      Function<? super LossReason, U> f,
      Executor executor) {
    return super.applyToEitherAsync(other, f, apart(executor));
  }

  @Override
  public CompletableFuture<Void> acceptEither(
      CompletionStage<? extends LossReason> other, Consumer<? super LossReason> f) {
    return super.acceptEitherAsync(other, f, callbacks());
  }

  @Override
  public CompletableFuture<Void> acceptEitherAsync(
      CompletionStage<? extends LossReason> other,
      Consumer<? super LossReason> f,
      Executor executor) {
    return super.acceptEitherAsync(other, f, apart(executor));
  }

  @Override
  public CompletableFuture<Void> runAfterEither(CompletionStage<?> other, Runnable f) {
    return super.runAfterEitherAsync(other, f, callbacks());
  }

  @Override
  public CompletableFuture<Void> runAfterEitherAsync(
      CompletionStage<?> other, Runnable f, Executor executor) {
    return super.runAfterEitherAsync(other, f, apart(executor));
  }

  @Override
  public <U> CompletableFuture<U> thenCompose(
      Function<? super LossReason, ? extends CompletionStage<U>> f) {
    return super.thenComposeAsync(f, callbacks());
  }

  @Override
  public <U> CompletableFuture<U> thenComposeAsync(
      Function<? super LossReason, ? extends CompletionStage<U>> f, Executor executor) {
    return super.thenComposeAsync(f, apart(executor));
  }

  @Override
  public <U> CompletableFuture<U> handle(
      BiFunction<? super LossReason, @Nullable Throwable, ? extends U> f) {
    return super.handleAsync(f, callbacks());
  }

  @Override
  public <U> CompletableFuture<U> handleAsync(
      BiFunction<? super LossReason, @Nullable Throwable, ? extends U> f, Executor executor) {
    return super.handleAsync(f, apart(executor));
  }

  @Override
  public CompletableFuture<LossReason> whenComplete(
      BiConsumer<? super LossReason, ? super @Nullable Throwable> f) {
    return super.whenCompleteAsync(f, callbacks());
  }

  @Override
  public CompletableFuture<LossReason> whenCompleteAsync(
      BiConsumer<? super LossReason, ? super @Nullable Throwable> f, Executor executor) {
    return super.whenCompleteAsync(f, apart(executor));
  }

  @Override
  public CompletableFuture<LossReason> exceptionally(Function<Throwable, ? extends LossReason> f) {
    return super.exceptionallyAsync(f, callbacks());
  }

  @Override
  public CompletableFuture<LossReason> exceptionallyAsync(
      Function<Throwable, ? extends LossReason> f, Executor executor) {
    return super.exceptionallyAsync(f, apart(executor));
  }

  @Override
  public CompletableFuture<LossReason> exceptionallyCompose(
      Function<Throwable, ? extends CompletionStage<LossReason>> f) {
    return super.exceptionallyComposeAsync(f, callbacks());
  }

  @Override
  public CompletableFuture<LossReason> exceptionallyComposeAsync(
      Function<Throwable, ? extends CompletionStage<LossReason>> f, Executor executor) {
    return super.exceptionallyComposeAsync(f, apart(executor));
  }

  /** Never completes it: only a loss does. */
  @Override
  public boolean complete(LossReason value) {
    return false;
  }

  @Override
  public boolean completeExceptionally(Throwable failure) {
    return false;
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    return false;
  }

  @Override
  public void obtrudeValue(LossReason value) {
    throw new UnsupportedOperationException("only a loss completes this stage");
  }

  @Override
  public void obtrudeException(Throwable failure) {
    throw new UnsupportedOperationException("only a loss completes this stage");
  }

  @Override
  public CompletableFuture<LossReason> completeAsync(
      Supplier<? extends LossReason> supplier, Executor executor) {
    return this;
  }

  @Override
  public CompletableFuture<LossReason> completeAsync(Supplier<? extends LossReason> supplier) {
    return this;
  }

  /** Returns a copy with the limit, because this stage is that of all. */
  @Override
  public CompletableFuture<LossReason> orTimeout(long timeout, TimeUnit unit) {
    return copy().orTimeout(timeout, unit);
  }

  /** Returns a copy with the limit, because this stage is that of all. */
  @Override
  public CompletableFuture<LossReason> completeOnTimeout(
      LossReason value, long timeout, TimeUnit unit) {
    return copy().completeOnTimeout(value, timeout, unit);
  }

  /** Returns a copy that the user may complete. */
  @Override
  public CompletableFuture<LossReason> copy() {
    return thenApply(Function.identity());
  }

  @Override
  public CompletionStage<LossReason> minimalCompletionStage() {
    return copy().minimalCompletionStage();
  }
}
