package dev.holdfast.reactor;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import reactor.blockhound.BlockHound;
import reactor.blockhound.BlockingOperationError;

/**
 * The calls that blocked a thread that must not block, also those whose error some code dropped.
 * BlockHound can be installed once in a JVM.
 */
final class BlockedThreads {
  private static final Queue<BlockingOperationError> SEEN = new ConcurrentLinkedQueue<>();

  private BlockedThreads() {}

  /** Begins to watch, and forgets what was seen before. */
  static void watch() {
    BlockHound.install(
        builder ->
            builder.blockingMethodCallback(
                method -> {
                  BlockingOperationError error = new BlockingOperationError(method);
                  SEEN.add(error);
                  throw error;
                }));
    SEEN.clear();
  }

  static List<BlockingOperationError> seen() {
    return List.copyOf(SEEN);
  }
}
