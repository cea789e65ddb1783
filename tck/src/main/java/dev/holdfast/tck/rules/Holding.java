package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** A lock that a thread of its own holds, which asked for it in one of the ways there are. */
final class Holding {
  private final TckFixture fixture;
  private final AskingWay way;
  private final LockRequest request;
  private final CountDownLatch end = new CountDownLatch(1);
  private final Call<Boolean> call;
  private volatile Optional<Lease> lease = Optional.empty();
  private volatile boolean held;

  private Holding(TckFixture fixture, AskingWay way, LockManager locks, LockRequest request) {
    this.fixture = fixture;
    this.way = way;
    this.request = request;
    fixture.atEnd(end::countDown);
    this.call =
        Call.begin(
            () -> {
              way.hold(
                  locks,
                  request,
                  granted -> {
                    lease = granted;
                    held = true;
                    end.await();
                  });
              return true;
            });
  }

  /** Returns once the lock is held. Leaves the test out if it is not acquired. */
  static Holding of(TckFixture fixture, AskingWay way, LockManager locks, LockRequest request) {
    return asking(fixture, way, locks, request).awaitHeld();
  }

  /** Returns once the lock is asked for. */
  static Holding asking(TckFixture fixture, AskingWay way, LockManager locks, LockRequest request) {
    return new Holding(fixture, way, locks, request);
  }

  /** Leaves the test out if the lock is not acquired, which other rules cover. */
  Holding awaitHeld() {
    fixture.awaitRegardless("a lock is acquired by " + way, () -> held || call.isOver());
    call.thrown().ifPresent(IgnoredFailures::add);
    if (!held) {
      AnotherRule.isBroken("a lock is not acquired by " + way + "");
    }
    return this;
  }

  AskingWay way() {
    return way;
  }

  String name() {
    return request.name();
  }

  /** Returns the lease, or empty for a view. */
  Optional<Lease> lease() {
    return lease;
  }

  /** Releases the lock, and returns when the release was answered, whatever the answer is. */
  void release() {
    end.countDown();
    fixture.awaitRegardless("a lock is released by " + way, call::isOver);
    call.thrown().ifPresent(IgnoredFailures::add);
  }
}
