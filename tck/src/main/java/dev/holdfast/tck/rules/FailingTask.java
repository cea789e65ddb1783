package dev.holdfast.tck.rules;

import dev.holdfast.Lease;
import dev.holdfast.LockedTask;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/** Work that throws, and keeps the leases under which it was done. */
final class FailingTask implements LockedTask<String, Exception> {
  private final Throwable failure;
  private final List<Lease> leases = new CopyOnWriteArrayList<>();

  private FailingTask(Throwable failure) {
    this.failure = failure;
  }

  /** Returns one for each kind of failure: checked, unchecked, and an error. */
  static List<FailingTask> all() {
    return Stream.of(new Exception("checked"), new IllegalStateException(), new AssertionError())
        .map(FailingTask::new)
        .toList();
  }

  @Override
  public String call(Lease lease) throws Exception {
    leases.add(lease);
    if (failure instanceof Error error) {
      throw error;
    }
    throw (Exception) failure;
  }

  Throwable failure() {
    return failure;
  }

  List<Lease> leases() {
    return leases;
  }

  @Override
  public String toString() {
    return "work that throws " + failure;
  }
}
