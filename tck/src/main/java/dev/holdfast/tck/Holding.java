package dev.holdfast.tck;

import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** A lock that a thread of its own holds, which asked for it in one of the ways there are. */
final class Holding {
  private final Trial trial;
  private final AskingWay way;
  private final LockRequest request;
  private final CountDownLatch end = new CountDownLatch(1);
  private final Call<Boolean> call;
  private volatile Optional<Lease> lease = Optional.empty();
  private volatile boolean held;

  private Holding(Trial trial, AskingWay way, LockManager locks, LockRequest request) {
    this.trial = trial;
    this.way = way;
    this.request = request;
    trial.atEnd(end::countDown);
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

  /** Returns once the lock is held. Leaves the test out if it is not got. */
  static Holding of(Trial trial, AskingWay way, LockManager locks, LockRequest request) {
    return asking(trial, way, locks, request).awaitHeld();
  }

  /** Returns once the lock is asked for. */
  static Holding asking(Trial trial, AskingWay way, LockManager locks, LockRequest request) {
    return new Holding(trial, way, locks, request);
  }

  /** Leaves the test out if the lock is not got, which is another rule's. */
  Holding awaitHeld() {
    trial.awaitRegardless("a lock is got by " + way, () -> held || call.isOver());
    call.thrown().ifPresent(PassedOver::add);
    if (!held) {
      abort("a lock is not got by " + way + ", which is another rule's");
    }
    return this;
  }

  AskingWay way() {
    return way;
  }

  String name() {
    return request.name();
  }

  /** Empty for a view. */
  Optional<Lease> lease() {
    return lease;
  }

  /** Gives the lock back, and returns when that has been answered, whatever the answer is. */
  void giveBack() {
    end.countDown();
    trial.awaitRegardless("a lock is given back by " + way, call::isOver);
    call.thrown().ifPresent(PassedOver::add);
  }
}
