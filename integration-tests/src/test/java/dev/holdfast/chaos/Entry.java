package dev.holdfast.chaos;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A line of the {@link Journal}. Times are {@link System#nanoTime()}, which all processes of one
 * Linux machine share, whatever their wall clocks show.
 */
sealed interface Entry {
  /** A client got a lease, which it believes in until that time. */
  record Got(String client, String name, long fence, String token, long at, long until)
      implements Entry {}

  /** It was held at that time, and must be until that other one. */
  record Held(String token, long at, long until) implements Entry {}

  /** Just before its release: whether it was held then. */
  record Ending(String token, long at, boolean held) implements Entry {}

  /**
   * The wall clock of a client was set by then.
   *
   * @param aheadNanos by how much it went forward. A manager takes that for sleep of the machine,
   *     which its monotonic clock does not count, and its leases end so much earlier.
   */
  record ClockSet(String client, long at, long aheadNanos) implements Entry {}

  /** Its release was answered. Nothing may be left of it on any node from then on. */
  record Released(String token, long goneBy) implements Entry {}

  /** A new value, one more than the one that was read, on its way to the {@link Counter}. */
  record Wrote(String name, long fence, long read) implements Entry {}

  /** A call of a client ended, later than it should by so much. */
  record Called(String what, long overrunNanos) implements Entry {}

  /** A fault began. */
  record Began(String fault, String victims, long at) implements Entry {}

  /** All faults were over. */
  record Healed(long at) implements Entry {}

  /**
   * Each lock was acquired again after the last healing. Since that time a quorum was out of
   * quarantine, and for so long meanwhile processes got no processor.
   */
  record Voting(long since, long lostNanos) implements Entry {}

  /** A token that a lock held on a node, from one look to another. */
  record Seen(String node, String name, String token, long from, long to) implements Entry {}

  /** Returns the entry as a line, without its end. */
  default String line() {
    return Stream.concat(
            Stream.of(getClass().getSimpleName()),
            Arrays.stream(getClass().getRecordComponents()).map(this::valueOf))
        .collect(Collectors.joining("\t"));
  }

  /** Reads a line. */
  static Entry parse(String line) {
    String[] words = line.split("\t", -1);
    Class<?> type = Kinds.BY_NAME.get(words[0]);
    if (type == null) {
      throw new IllegalArgumentException("no entry: " + line);
    }
    RecordComponent[] parts = type.getRecordComponents();
    Object[] values = new Object[parts.length];
    for (int i = 0; i < parts.length; i++) {
      values[i] = read(parts[i].getType(), words[i + 1]);
    }
    try {
      Class<?>[] types =
          Arrays.stream(parts).map(RecordComponent::getType).toArray(Class<?>[]::new);
      return (Entry) type.getDeclaredConstructor(types).newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private String valueOf(RecordComponent part) {
    try {
      return String.valueOf(part.getAccessor().invoke(this));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Object read(Class<?> type, String word) {
    if (type == long.class) {
      return Long.valueOf(word);
    }
    return type == boolean.class ? (Object) Boolean.valueOf(word) : word;
  }

  /** The types, by the word that begins their lines. */
  final class Kinds {
    private static final Map<String, Class<?>> BY_NAME =
        Arrays.stream(Entry.class.getPermittedSubclasses())
            .collect(Collectors.toMap(Class::getSimpleName, Function.identity()));

    private Kinds() {}
  }
}
