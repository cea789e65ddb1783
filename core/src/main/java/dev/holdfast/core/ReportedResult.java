package dev.holdfast.core;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener.Failure;
import dev.holdfast.LockLostException;
import dev.holdfast.LockOutageException;
import dev.holdfast.core.LockPrimitive.Grant;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The result of a request that began while there was a listener. It is reported to listeners once,
 * before it is completed: a caller that has its result finds it reported. It is a subclass, because
 * a request without a listener must not cost more than a plain future does.
 */
final class ReportedResult extends CompletableFuture<Optional<Lease>> {
  private final ManagerContext context;
  private final String name;
  private final WaitLimit wait;
  private final Flight.Span span;

  /** The listeners that learn of the request and of its lease. */
  private final Listeners.Audience audience;

  private final AtomicBoolean isReported = new AtomicBoolean();

  private ReportedResult(ManagerContext context, String name, WaitLimit wait) {
    this.context = context;
    this.name = name;
    this.wait = wait;
    this.span = Flight.RECORDER.acquire(name);
    this.audience = context.listeners().audience();
  }

  /** Returns the future of a new request, which reports to listeners if there are any. */
  static CompletableFuture<Optional<Lease>> of(
      ManagerContext context, String name, WaitLimit wait) {
    if (!context.listeners().isActive()) {
      return new CompletableFuture<>();
    }
    ReportedResult result = new ReportedResult(context, name, wait);
    context.limiter().load().onRequested();
    return result;
  }

  /**
   * Returns the reports of a request's lease. For null, a request without reports, there are none.
   */
  static LeaseReport lease(@Nullable CompletableFuture<Optional<Lease>> result) {
    return result instanceof ReportedResult reported ? reported.lease() : LeaseReport.NONE;
  }

  private LeaseReport lease() {
    return new LeaseEvents(context.clock(), audience, context.listeners().nextLeaseId(), name);
  }

  /** Notes the grant in the lease's reports, unless another result of the request was reported. */
  static void granted(
      @Nullable CompletableFuture<Optional<Lease>> result,
      LeaseReport lease,
      Grant grant,
      ClockReading at) {
    if (result instanceof ReportedResult reported && reported.claim("GRANTED")) {
      lease.granted(grant, at, reported.waitedNanos());
    }
  }

  /** Reports that the caller has given up, whatever its future will be completed with. */
  static void abandon(CompletableFuture<Optional<Lease>> result) {
    if (result instanceof ReportedResult reported) {
      reported.reportFailure(Failure.INTERRUPTED);
    }
  }

  /** Reports a request that was refused before it began to wait. */
  static void refused(ManagerContext context, String name, Throwable failure) {
    if (context.listeners().isActive()) {
      Failure reason = reason(failure);
      Flight.RECORDER.acquire(name).end(reason.name());
      context.listeners().report(listener -> listener.onNotGranted(name, reason, 0));
    }
  }

  /**
   * Returns whether this call decides which result of the request is reported.
   *
   * @param outcome the result, for the flight recorder
   */
  private boolean claim(String outcome) {
    boolean claimed = isReported.compareAndSet(false, true);
    if (claimed) {
      span.end(outcome);
      context.limiter().load().onResult();
    }
    return claimed;
  }

  private long waitedNanos() {
    return wait.waited();
  }

  @Override
  public boolean complete(Optional<Lease> lease) {
    if (lease.isEmpty()) {
      reportFailure(Failure.CONTENDED);
    }
    return super.complete(lease);
  }

  @Override
  public boolean completeExceptionally(Throwable failure) {
    if (!isDone()) {
      reportFailure(reason(failure));
    }
    return super.completeExceptionally(failure);
  }

  private void reportFailure(Failure failure) {
    if (claim(failure.name())) {
      long waited = waitedNanos();
      audience.report(listener -> listener.onNotGranted(name, failure, waited));
    }
  }

  private static Failure reason(Throwable failure) {
    Throwable cause = Futures.cause(failure);
    if (cause instanceof LockOutageException) {
      return Failure.OUTAGE;
    }
    if (cause instanceof LockConfigurationException) {
      return Failure.CONFIGURATION;
    }
    if (cause instanceof LockLostException) {
      return Failure.CONTENDED; // an adoption of what another owner has, or no owner any more
    }
    if (cause instanceof ManagerClosedException) {
      return Failure.CLOSED;
    }
    return cause instanceof InterruptedException || cause instanceof CancellationException
        ? Failure.INTERRUPTED
        : Failure.ERROR;
  }
}
