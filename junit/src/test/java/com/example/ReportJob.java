package com.example;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import java.time.Duration;

/** A user's job that holds a lock while it works. */
final class ReportJob implements AutoCloseable {
  private final Lease lease;
  private int pages;

  private ReportJob(Lease lease) {
    this.lease = lease;
  }

  static ReportJob begin(LockManager locks) throws InterruptedException {
    return new ReportJob(locks.acquire("report", Duration.ofSeconds(30)));
  }

  void writePage() {
    lease.requireHeld();
    pages++;
  }

  int pages() {
    return pages;
  }

  @Override
  public void close() {
    lease.close();
  }
}
