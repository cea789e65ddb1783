package dev.holdfast.tck.rules;

import dev.holdfast.Lease;

/** The calls that release a lock. */
enum Giving {
  /** {@link Lease#release}. */
  RELEASE {
    @Override
    void back(Lease lease) {
      lease.release();
    }
  },

  /** {@link Lease#releaseAsync}. */
  RELEASE_ASYNC {
    @Override
    void back(Lease lease) {
      lease.releaseAsync().join();
    }
  },

  /** {@link Lease#close}. */
  CLOSE {
    @Override
    void back(Lease lease) {
      lease.close();
    }
  };

  abstract void back(Lease lease);
}
