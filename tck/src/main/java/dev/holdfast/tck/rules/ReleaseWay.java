package dev.holdfast.tck.rules;

import dev.holdfast.Lease;

/** The ways in which a holder releases a lease. */
enum ReleaseWay {
  RELEASE {
    @Override
    void release(TckFixture fixture, Lease lease) {
      TckFixture.regardless(lease::release);
    }
  },
  RELEASE_ASYNC {
    @Override
    void release(TckFixture fixture, Lease lease) {
      await(fixture, lease);
    }
  },
  CLOSE {
    @Override
    void release(TckFixture fixture, Lease lease) {
      TckFixture.regardless(lease::close);
    }
  },
  /** An early release within try-with-resources. */
  RELEASE_AND_CLOSE {
    @Override
    void release(TckFixture fixture, Lease lease) {
      TckFixture.regardless(lease::release);
      TckFixture.regardless(lease::close);
    }
  },
  RELEASE_ASYNC_AND_RELEASE {
    @Override
    void release(TckFixture fixture, Lease lease) {
      await(fixture, lease);
      TckFixture.regardless(lease::release);
    }
  },
  RELEASE_BY_ANOTHER_THREAD {
    @Override
    void release(TckFixture fixture, Lease lease) {
      Call.begin(lease::release).awaited(fixture);
    }
  },
  RELEASE_WHILE_INTERRUPTED {
    @Override
    void release(TckFixture fixture, Lease lease) {
      interrupted(lease::release);
    }
  },
  CLOSE_WHILE_INTERRUPTED {
    @Override
    void release(TckFixture fixture, Lease lease) {
      interrupted(lease::close);
    }
  };

  /** Releases a lease, and returns when that has been answered, whatever the answer is. */
  abstract void release(TckFixture fixture, Lease lease);

  private static void await(TckFixture fixture, Lease lease) {
    TckFixture.regardless(
        () -> fixture.awaitRegardless("it is answered", lease.releaseAsync()::isDone));
  }

  private static void interrupted(Eventually.Assertions act) {
    Thread.currentThread().interrupt();
    try {
      TckFixture.regardless(act);
    } finally {
      Thread.interrupted();
    }
  }
}
