package dev.holdfast.benchmarks;

import java.util.List;

/** A lock on a majority of servers, whose waiters poll, without anything else. */
abstract class RawLock implements Contestant {
  private final int servers;

  RawLock(List<String> uris) {
    servers = uris.size();
  }

  @Override
  public final boolean locked(String name, Runnable work) throws Exception {
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
    if (2 * granted > servers) {
      return true;
    }
    if (granted > 0) {
      release(name, token);
    }
    return false;
  }

  /** Asks each server for SET NX, and returns how many have granted it. */
  abstract int set(String name, String token) throws Exception;

  /** Deletes the key on each server on which it has this token. */
  abstract void release(String name, String token) throws Exception;
}
