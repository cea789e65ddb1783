package dev.holdfast.core;

import dev.holdfast.LossReason;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
  private final ManagerContext context;

  /**
   * The future that the stages of users depend on. The static methods of {@link CompletableFuture},
   * such as allOf, depend on this stage itself, and run their dependents on the thread that
   * completes it. This stage completes after {@code loss}, so that no other dependent waits for
   * theirs.
   */
  private final CompletableFuture<LossReason> loss = new CompletableFuture<>();

  LossStage(ManagerContext context) {
    this.context = context;
  }

  /** Completes it. Called on a thread that nothing else waits for. */
  void lose(LossReason reason) {
    loss.complete(reason);
    super.complete(reason);
  }

  private Executor callbacks() {
    return context.callbacks();
  }

  /** Returns the executor of the methods {@code …Async} without one. */
  @Override
  public Executor defaultExecutor() {
    return callbacks();
  }

  private Executor apart(Executor executor) {
    return new UserExecutor(executor, context.scheduler());
  }

  @Override
  public <U> CompletableFuture<U> thenApply(Function<? super LossReason, ? extends U> f) {
    return loss.thenApplyAsync(f, callbacks());
  }

  @Override
  public <U> CompletableFuture<U> thenApplyAsync(
      Function<? super LossReason, ? extends U> f, Executor executor) {
    return loss.thenApplyAsync(f, apart(executor));
  }

  @Override
  public CompletableFuture<Void> thenAccept(Consumer<? super LossReason> f) {
    return loss.thenAcceptAsync(f, callbacks());
  }

  @Override
  public CompletableFuture<Void> thenAcceptAsync(
      Consumer<? super LossReason> f, Executor executor) {
    return loss.thenAcceptAsync(f, apart(executor));
  }

  @Override
  public CompletableFuture<Void> thenRun(Runnable f) {
    return loss.thenRunAsync(f, callbacks());
  }

  @Override
  public CompletableFuture<Void> thenRunAsync(Runnable f, Executor executor) {
    return loss.thenRunAsync(f, apart(executor));
  }

  @Override
  public <U, V> CompletableFuture<V> thenCombine(
      CompletionStage<? extends U> other,
      BiFunction<? super LossReason, ? super U, ? extends V> f) {
    return loss.thenCombineAsync(other, f, callbacks());
  }

  @Override
  public <U, V> CompletableFuture<V> thenCombineAsync(
      CompletionStage<? extends U> other,
      BiFunction<? super LossReason, ? super U, ? extends V> f,
      Executor executor) {
    return loss.thenCombineAsync(other, f, apart(executor));
  }

  @Override
  public <U> CompletableFuture<Void> thenAcceptBoth(
      CompletionStage<? extends U> other, BiConsumer<? super LossReason, ? super U> f) {
    return loss.thenAcceptBothAsync(other, f, callbacks());
  }

  @Override
  public <U> CompletableFuture<Void> thenAcceptBothAsync(
      CompletionStage<? extends U> other,
      BiConsumer<? super LossReason, ? super U> f,
      Executor executor) {
    return loss.thenAcceptBothAsync(other, f, apart(executor));
  }

  @Override
  public CompletableFuture<Void> runAfterBoth(CompletionStage<?> other, Runnable f) {
    return loss.runAfterBothAsync(other, f, callbacks());
  }

  @Override
  public CompletableFuture<Void> runAfterBothAsync(
      CompletionStage<?> other, Runnable f, Executor executor) {
    return loss.runAfterBothAsync(other, f, apart(executor));
  }

  @Override
  public <U> CompletableFuture<U> applyToEither(
      CompletionStage<? extends LossReason> other, Function<? super LossReason, U> f) {
    return loss.applyToEitherAsync(other, f, callbacks());
  }

  @Override
  public <U> CompletableFuture<U> applyToEitherAsync(
      CompletionStage<? extends LossReason> other,
      Function<? super LossReason, U> f,
      Executor executor) {
    return loss.applyToEitherAsync(other, f, apart(executor));
  }

  @Override
  public CompletableFuture<Void> acceptEither(
      CompletionStage<? extends LossReason> other, Consumer<? super LossReason> f) {
    return loss.acceptEitherAsync(other, f, callbacks());
  }

  @Override
  public CompletableFuture<Void> acceptEitherAsync(
      CompletionStage<? extends LossReason> other,
      Consumer<? super LossReason> f,
      Executor executor) {
    return loss.acceptEitherAsync(other, f, apart(executor));
  }

  @Override
  public CompletableFuture<Void> runAfterEither(CompletionStage<?> other, Runnable f) {
    return loss.runAfterEitherAsync(other, f, callbacks());
  }

  @Override
  public CompletableFuture<Void> runAfterEitherAsync(
      CompletionStage<?> other, Runnable f, Executor executor) {
    return loss.runAfterEitherAsync(other, f, apart(executor));
  }

  @Override
  public <U> CompletableFuture<U> thenCompose(
      Function<? super LossReason, ? extends CompletionStage<U>> f) {
    return loss.thenComposeAsync(f, callbacks());
  }

  @Override
  public <U> CompletableFuture<U> thenComposeAsync(
      Function<? super LossReason, ? extends CompletionStage<U>> f, Executor executor) {
    return loss.thenComposeAsync(f, apart(executor));
  }

  @Override
  public <U> CompletableFuture<U> handle(
      BiFunction<? super LossReason, @Nullable Throwable, ? extends U> f) {
    return loss.handleAsync(f, callbacks());
  }

  @Override
  public <U> CompletableFuture<U> handleAsync(
      BiFunction<? super LossReason, @Nullable Throwable, ? extends U> f, Executor executor) {
    return loss.handleAsync(f, apart(executor));
  }

  @Override
  public CompletableFuture<LossReason> whenComplete(
      BiConsumer<? super LossReason, ? super @Nullable Throwable> f) {
    return loss.whenCompleteAsync(f, callbacks());
  }

  @Override
  public CompletableFuture<LossReason> whenCompleteAsync(
      BiConsumer<? super LossReason, ? super @Nullable Throwable> f, Executor executor) {
    return loss.whenCompleteAsync(f, apart(executor));
  }

  @Override
  public CompletableFuture<LossReason> exceptionally(Function<Throwable, ? extends LossReason> f) {
    return loss.exceptionallyAsync(f, callbacks());
  }

  @Override
  public CompletableFuture<LossReason> exceptionallyAsync(
      Function<Throwable, ? extends LossReason> f, Executor executor) {
    return loss.exceptionallyAsync(f, apart(executor));
  }

  @Override
  public CompletableFuture<LossReason> exceptionallyCompose(
      Function<Throwable, ? extends CompletionStage<LossReason>> f) {
    return loss.exceptionallyComposeAsync(f, callbacks());
  }

  @Override
  public CompletableFuture<LossReason> exceptionallyComposeAsync(
      Function<Throwable, ? extends CompletionStage<LossReason>> f, Executor executor) {
    return loss.exceptionallyComposeAsync(f, apart(executor));
  }

  @Override
  public boolean isDone() {
    return loss.isDone();
  }

  @Override
  public LossReason get() throws InterruptedException, ExecutionException {
    return loss.get();
  }

  @Override
  public LossReason get(long timeout, TimeUnit unit)
      throws InterruptedException, ExecutionException, TimeoutException {
    return loss.get(timeout, unit);
  }

  @Override
  public LossReason join() {
    return loss.join();
  }

  @Override
  public LossReason getNow(LossReason valueIfAbsent) {
    return loss.getNow(valueIfAbsent);
  }

  @Override
  public int getNumberOfDependents() {
    return loss.getNumberOfDependents() + super.getNumberOfDependents();
  }

  /** Returns false: only a loss completes this future. */
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
