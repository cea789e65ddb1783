package dev.holdfast.reactor;

import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import reactor.blockhound.BlockHound;
import reactor.blockhound.BlockingOperationError;

/**
 * The calls that blocked a thread that must not block, also those whose error some code dropped.
 * BlockHound can be installed once in a JVM.
 */
final class BlockedThreads {
  private static final String SELF = BlockedThreads.class.getName();
  private static final Queue<BlockingOperationError> SEEN = new ConcurrentLinkedQueue<>();

  private BlockedThreads() {}

  /** Begins to watch, and forgets what was seen before. */
  static void watch() {
    BlockHound.install(
        builder ->
            builder.blockingMethodCallback(
                method -> {
                  BlockingOperationError error = new BlockingOperationError(method);
                  if (!isNettysOwn(error)) {
                    SEEN.add(error);
                    throw error;
                  }
                }));
    SEEN.clear();
  }

  /** Tells whether Netty itself blocks, whose allocator takes a lock for microseconds. */
  private static boolean isNettysOwn(BlockingOperationError error) {
    return Arrays.stream(error.getStackTrace())
        .map(StackTraceElement::getClassName)
        .filter(name -> !name.startsWith("java.") && !name.startsWith("jdk."))
        .filter(name -> !name.startsWith("reactor.blockhound.") && !name.startsWith(SELF))
        .findFirst()
        .map(name -> name.startsWith("io.netty.buffer."))
        .orElse(false);
  }

  static List<BlockingOperationError> seen() {
    return List.copyOf(SEEN);
  }

  /** Returns the whole stack of each call, for messages. */
  static List<String> stacks() {
    return SEEN.stream()
        .map(
            error ->
                Arrays.stream(error.getStackTrace())
                    .map(StackTraceElement::toString)
                    .collect(Collectors.joining("\n", "\n", "\n")))
        .toList();
  }
}
