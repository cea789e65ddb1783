package dev.holdfast.tck;

import dev.holdfast.Lease;

/** The ways in which a holder gives a lease back. */
enum GivingBack {
  RELEASE {
    @Override
    void giveBack(Trial trial, Lease lease) {
      Trial.regardless(lease::release);
    }
  },
  RELEASE_ASYNC {
    @Override
    void giveBack(Trial trial, Lease lease) {
      await(trial, lease);
    }
  },
  CLOSE {
    @Override
    void giveBack(Trial trial, Lease lease) {
      Trial.regardless(lease::close);
    }
  },
  /** An early release within try-with-resources. */
  RELEASE_AND_CLOSE {
    @Override
    void giveBack(Trial trial, Lease lease) {
      Trial.regardless(lease::release);
      Trial.regardless(lease::close);
    }
  },
  RELEASE_ASYNC_AND_RELEASE {
    @Override
    void giveBack(Trial trial, Lease lease) {
      await(trial, lease);
      Trial.regardless(lease::release);
    }
  },
  RELEASE_BY_ANOTHER_THREAD {
    @Override
    void giveBack(Trial trial, Lease lease) {
      Call.begin(lease::release).awaited(trial);
    }
  },
  RELEASE_WHILE_INTERRUPTED {
    @Override
    void giveBack(Trial trial, Lease lease) {
      interrupted(lease::release);
    }
  },
  CLOSE_WHILE_INTERRUPTED {
    @Override
    void giveBack(Trial trial, Lease lease) {
      interrupted(lease::close);
    }
  };

  /** Gives a lease back, and returns when that has been answered, whatever the answer is. */
  abstract void giveBack(Trial trial, Lease lease);

  private static void await(Trial trial, Lease lease) {
    Trial.regardless(
        () ->
            trial.awaitRegardless(
                "it is answered", lease.releaseAsync().toCompletableFuture()::isDone));
  }

  private static void interrupted(Eventually.Assertions act) {
    Thread.currentThread().interrupt();
    try {
      Trial.regardless(act);
    } finally {
      Thread.interrupted();
    }
  }
}
