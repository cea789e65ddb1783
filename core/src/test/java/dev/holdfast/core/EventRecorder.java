package dev.holdfast.core;

import dev.holdfast.LockListener;
import dev.holdfast.LossReason;
import java.util.List;

/** Writes down what concerns requests and leases, with times in milliseconds. */
record EventRecorder(List<String> seen) implements LockListener {
  @Override
  public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
    seen.add("%s %d granted %s %d %d".formatted(name, leaseId, ms(waited), votes, margin));
  }

  @Override
  public void onNotGranted(String name, Failure failure, long waited) {
    seen.add("%s %s %s".formatted(name, failure, ms(waited)));
  }

  @Override
  public void onRenewal(String name, long leaseId, Renewal outcome, long took) {
    seen.add("%s %d renewal %s %s".formatted(name, leaseId, outcome, ms(took)));
  }

  @Override
  public void onReleased(String name, long leaseId, long held, boolean confirmed) {
    seen.add("%s %d released %s %s".formatted(name, leaseId, ms(held), confirmed));
  }

  @Override
  public void onTransferred(String name, long leaseId, long held) {
    seen.add("%s %d transferred %s".formatted(name, leaseId, ms(held)));
  }

  @Override
  public void onLost(String name, long leaseId, LossReason reason, long held) {
    seen.add("%s %d lost %s %s".formatted(name, leaseId, reason, ms(held)));
  }

  @Override
  public void onOverrun(String name, long leaseId, long overrun) {
    seen.add("%s %d overrun %s".formatted(name, leaseId, ms(overrun)));
  }

  private String ms(long nanos) {
    return nanos / 1_000_000 + "ms";
  }
}
