package dev.holdfast.core;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockRequest;
import dev.holdfast.core.LockPrimitive.Adoption;
import dev.holdfast.core.LockPrimitive.Attempt;
import dev.holdfast.core.LockPrimitive.Grant;
import dev.holdfast.core.LockPrimitive.Lost;
import dev.holdfast.core.LockPrimitive.Outcome;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Adopts transferred locks for one manager. It does not wait in a queue, because the lock is not
 * free: other requests cannot get it.
 */
record Adopter(ManagerContext context, ActiveLeases leases) {
  /**
   * Returns the transferred token, without input or output.
   *
   * @throws dev.holdfast.LockConfigurationException if the text does not fit
   */
  String tokenIn(String text, LockRequest request) {
    context.require(LockCapability.TRANSFER, "adopt");
    TransferText transfer = TransferText.of(text);
    transfer.requireFor(context.primitive().transferScope(), request.name());
    return transfer.token();
  }

  /**
   * Waits for an adoption. If it succeeds after the wait is over, or after the backend threw, the
   * lock is released.
   */
  Lease await(Supplier<CompletableFuture<DefaultLease>> adoption) {
    CompletableFuture<Lease> user = new CompletableFuture<>();
    try {
      context
          .primitive()
          .lendThread(
              () -> adoption.get().whenComplete((lease, failure) -> hand(user, lease, failure)));
    } catch (RuntimeException | Error broken) {
      if (!user.completeExceptionally(broken)) {
        user.thenAccept(lease -> ((DefaultLease) lease).releaseUnclaimed());
      }
      throw broken;
    }
    return context.joinOrFail(user);
  }

  /** Delivers an adopted lock where users' callbacks run. */
  CompletableFuture<Lease> deliver(Supplier<CompletableFuture<DefaultLease>> adoption) {
    CompletableFuture<DefaultLease> adopted;
    try {
      adopted = adoption.get();
    } catch (LockException | IllegalStateException refused) {
      return context.forUser(CompletableFuture.failedFuture(refused));
    }
    return context.forUser(adopted, lease -> ((DefaultLease) lease).releaseUnclaimed());
  }

  /** Hands a lease to a user, or releases it if the user has given it up. */
  private static void hand(
      CompletableFuture<Lease> user, DefaultLease lease, @Nullable Throwable failure) {
    if (failure != null) {
      user.completeExceptionally(Futures.forUser(failure));
    } else if (!user.complete(lease)) {
      lease.releaseUnclaimed();
    }
  }

  /**
   * Starts an adoption. The result completes within the bounds of one attempt.
   *
   * @param token the transferred one
   * @param request checked by the manager
   */
  CompletableFuture<DefaultLease> adopt(String token, LockRequest request) {
    PermittedCalls calls = new PermittedCalls(context);
    if (!context.listeners().isActive()) {
      return calls.start(() -> send(token, request, null));
    }
    CompletableFuture<Optional<Lease>> reported =
        ReportedResult.of(context, request.name(), WaitLimit.startingNow(context.clock(), 0));
    return calls.start(
        () ->
            Futures.call(() -> send(token, request, reported))
                .whenComplete(
                    (lease, failure) ->
                        Futures.complete(reported, Optional.ofNullable(lease), failure)));
  }

  private CompletableFuture<DefaultLease> send(
      String token, LockRequest request, @Nullable CompletableFuture<Optional<Lease>> reported) {
    if (leases.closed()) { // while the call was queued: the text stays usable
      throw leases.refusal();
    }
    Attempt attempt =
        new Attempt(
            request.name(),
            request.ownerLabel().orElse(context.defaultOwner()),
            request.ttl(),
            new AttemptProgress()); // an adoption has no waiter that reads it
    long attemptedAt = context.clock().nanos();
    return Futures.start(() -> context.primitive().adopt(new Adoption(attempt, token)))
        .whenComplete(context::onAttempted)
        .thenApply(outcome -> leaseOf(outcome, request, attemptedAt, reported));
  }

  private DefaultLease leaseOf(
      Outcome outcome,
      LockRequest request,
      long attemptedAt,
      @Nullable CompletableFuture<Optional<Lease>> reported) {
    if (outcome instanceof Lost lost) {
      throw LockLostException.notAdopted(request.name(), lost.reason());
    }
    if (!(outcome instanceof Grant grant)) {
      throw new IllegalStateException("the backend refused an adoption instead of denying it");
    }
    DefaultLease lease = leases.open(request, grant, 0, attemptedAt, reported);
    if (leases.closed()) {
      lease.releaseUnclaimed();
      throw leases.refusal();
    }
    return lease;
  }
}
