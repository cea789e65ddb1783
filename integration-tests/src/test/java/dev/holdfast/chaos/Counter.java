package dev.holdfast.chaos;

/**
 * The counter that one lock protects: a number in a store that looks at fencing tokens. The store
 * is the {@link Journal}: the holder of a lease shows its token there before it reads, and of the
 * values that were written those with a token below the largest shown before are refused.
 */
final class Counter {
  /** The effect of an entry. */
  enum Effect {
    NONE,
    STORED,
    /** It came from one who is too late. */
    REFUSED,
    /** It was stored over a value that its writer had not read. */
    LOST_ANOTHER
  }

  private final String name;
  private long fence;
  private long value;

  Counter(String name) {
    this.name = name;
  }

  /** The value after all entries so far. */
  long value() {
    return value;
  }

  /** Whether a line may be about it, found out faster than by reading it. */
  boolean mayConcern(String line) {
    return (line.startsWith("Got\t") || line.startsWith("Wrote\t"))
        && line.contains("\t" + name + "\t");
  }

  /** The next entry of the journal. */
  Effect after(Entry entry) {
    if (entry instanceof Entry.Got got && got.name().equals(name)) {
      fence = Math.max(fence, got.fence());
    } else if (entry instanceof Entry.Wrote wrote && wrote.name().equals(name)) {
      return write(wrote);
    }
    return Effect.NONE;
  }

  private Effect write(Entry.Wrote wrote) {
    if (wrote.fence() < fence) {
      return Effect.REFUSED;
    }
    Effect effect = wrote.read() == value ? Effect.STORED : Effect.LOST_ANOTHER;
    fence = wrote.fence();
    value = wrote.read() + 1;
    return effect;
  }
}
