package dev.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LossReason;
import dev.holdfast.testsupport.Fakes;
import dev.holdfast.testsupport.Uncancellable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The delivery of a fake lease to callers who take it, and to callers who do not. */
class LeaseDeliveryTest {
  private final RuntimeException bug = new IllegalArgumentException("of the decorator");

  private final List<String> calls = new ArrayList<>();
  private final Lease lease = lease(null);
  private final CompletableFuture<Lease> below = new Uncancellable<>();

  @Test
  void theCallerGetsTheResultOfTheDecorator() {
    Lease own = lease(null);

    CompletableFuture<Lease> caller = deliver(given -> own, failure -> {});
    below.complete(lease);

    assertThat(caller).isCompletedWithValue(own);
    assertThat(calls).isEmpty();
  }

  @Test
  void aCancellationCancelsTheRequestBelow() {
    CompletableFuture<Lease> cancellable = new CompletableFuture<>();

    LeaseDelivery.deliver(cancellable, given -> given, failure -> {}, Optional::of).cancel(false);

    assertThat(cancellable).isCancelled();
  }

  @Test
  void unclaimedLeaseIsReleasedAtOnceDespiteHoldAtLeast() {
    assertThat(deliver(given -> given, failure -> {}).cancel(false)).isTrue();
    below.complete(lease);

    assertThat(calls).containsExactly("holdAtLeast PT0S", "releaseAsync");
  }

  @Test
  void aDecoratorThatThrowsFailsTheCallerAndReleasesTheLease() {
    CompletableFuture<Throwable> seen = new CompletableFuture<>();
    deliver(
            given -> {
              throw bug;
            },
            failure -> {})
        .whenComplete((result, failure) -> seen.complete(failure));

    below.complete(lease);

    assertThat(seen).isCompletedWithValue(bug);
    assertThat(calls).containsExactly("holdAtLeast PT0S", "releaseAsync");
  }

  @Test
  void aFailureReachesTheCallerAsItIsAlthoughTheDecoratorThrows() {
    Throwable failure = new LockLostException("x", LossReason.TAKEN);
    List<Throwable> decorator = new ArrayList<>();
    CompletableFuture<Throwable> seen = new CompletableFuture<>();
    deliver(
            given -> given,
            cause -> {
              decorator.add(cause);
              throw bug;
            })
        .whenComplete((result, cause) -> seen.complete(cause));

    below.completeExceptionally(new CompletionException(failure));

    assertThat(seen).isCompletedWithValue(failure);
    assertThat(decorator).containsExactly(failure);
    assertThat(failure.getSuppressed()).containsExactly(bug);
  }

  static List<RuntimeException> refusals() {
    return List.of(
        new LockConfigurationException("no HOLD_AT_LEAST"),
        new LockLostException("x", LossReason.TAKEN),
        new IllegalStateException("released"));
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void aLeaseWithoutAMinimumIsReleased(RuntimeException refusal) {
    LeaseDelivery.releaseUnclaimed(lease(refusal));

    assertThat(calls).containsExactly("holdAtLeast PT0S", "releaseAsync");
  }

  private CompletableFuture<Lease> deliver(
      UnaryOperator<Lease> onResult, Consumer<Throwable> onFailure) {
    return LeaseDelivery.deliver(below, onResult, onFailure, Optional::of);
  }

  /** Returns a fake lease whose minimum cannot be changed if there is a refusal. */
  private Lease lease(@Nullable RuntimeException refusal) {
    return Fakes.of(
        Lease.class,
        (self, method, arguments) -> {
          switch (method.getName()) {
            case "holdAtLeast" -> {
              calls.add("holdAtLeast " + (Duration) arguments[0]);
              if (refusal != null) {
                throw refusal;
              }
              return null;
            }
            case "releaseAsync" -> {
              calls.add("releaseAsync");
              return CompletableFuture.completedFuture(true);
            }
            case "equals" -> {
              return self == arguments[0];
            }
            default -> {
              return method.getName().equals("hashCode") ? (Object) 1 : "a fake lease";
            }
          }
        });
  }
}
