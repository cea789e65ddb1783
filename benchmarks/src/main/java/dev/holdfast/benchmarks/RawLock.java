package dev.holdfast.benchmarks;

/** A lock on a majority of servers, whose waiters poll, without anything else. */
interface RawLock extends Contestant {
  /** Returns the number of servers. */
  int servers();

  /** Sends SET NX to each server, and returns how many have granted it. */
  int set(String name, String token) throws Exception;

  /** Deletes the key on each server on which it has this token. */
  void release(String name, String token) throws Exception;

  @Override
  default boolean locked(String name, Runnable work) throws Exception {
    String token = RawCommands.token();
    if (!Polling.until(() -> isGranted(name, token))) {
      return false;
    }
    work.run();
    release(name, token);
    return true;
  }

  private boolean isGranted(String name, String token) throws Exception {
    int granted = set(name, token);
    if (2 * granted > servers()) {
      return true;
    }
    if (granted > 0) {
      release(name, token);
    }
    return false;
  }
}
