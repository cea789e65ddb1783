package dev.holdfast.tck.rules;

import dev.holdfast.Lease;

/** The calls that release a lock. */
enum ReleaseCall {
  /** {@link Lease#release}. */
  RELEASE {
    @Override
    void on(Lease lease) {
      lease.release();
    }
  },

  /** {@link Lease#releaseAsync}. */
  RELEASE_ASYNC {
    @Override
    void on(Lease lease) {
      lease.releaseAsync().join();
    }
  },

  /** {@link Lease#close}. */
  CLOSE {
    @Override
    void on(Lease lease) {
      lease.close();
    }
  };

  abstract void on(Lease lease);
}
