package dev.holdfast.benchmarks;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/** The counts of one contestant in one round. Safe for use by many threads. */
final class Tally {
  private static final int DIGITS = 3;
  private static final double NANOS_IN_MICRO = 1e3;

  private final Histogram nanos = new Histogram(DIGITS);
  private final Histogram holds = new Histogram(DIGITS);
  private long failed;
  private long busyNanos;
  private long allocated;
  private long commands;
  private long roundTrip;
  private final Map<Figure, Double> noted = new EnumMap<>(Figure.class);

  /** The measurements of one thread, so that threads do not get in each other's way. */
  static final class Own {
    /** The value in the place of a time. */
    static final long FAILED = -1;

    private final Histogram nanos;
    private final Histogram holds = new Histogram(DIGITS);
    private long failed;

    Own() {
      this(new Histogram(DIGITS));
    }

    private Own(Histogram nanos) {
      this.nanos = nanos;
    }

    /**
     * Returns the measurements so far.
     *
     * @param times in nanoseconds, or {@link #FAILED}
     * @param count how many of them
     */
    static Own of(long[] times, int count) {
      Own own = new Own();
      Arrays.stream(times, 0, count).filter(time -> time != FAILED).forEach(own::took);
      own.failed = Arrays.stream(times, 0, count).filter(time -> time == FAILED).count();
      return own;
    }

    /** Returns the measurements of another process. */
    static Own decoded(ByteBuffer times, long failed) throws DataFormatException {
      Own own = new Own(Histogram.decodeFromCompressedByteBuffer(times, 0));
      own.failed = failed;
      return own;
    }

    void took(long time) {
      nanos.recordValue(Math.max(0, time));
    }

    void held(long time) {
      holds.recordValue(time);
    }

    void failed() {
      failed++;
    }

    long count() {
      return nanos.getTotalCount();
    }
  }

  synchronized void add(Own own) {
    nanos.add(own.nanos);
    holds.add(own.holds);
    failed += own.failed;
  }

  /** Returns the bytes that {@link Own#decoded} reads. */
  synchronized byte[] encodedTimes() {
    ByteBuffer buffer = ByteBuffer.allocate(nanos.getNeededByteBufferCapacity());
    int length = nanos.encodeIntoCompressedByteBuffer(buffer);
    return Arrays.copyOf(buffer.array(), length);
  }

  /** Adds the time in which something was counted. */
  synchronized void took(long time) {
    busyNanos += time;
  }

  synchronized void allocated(long bytes) {
    allocated += bytes;
  }

  synchronized void sent(long number) {
    commands += number;
  }

  /** Notes how long a command to all servers takes. */
  synchronized void roundTrip(long time) {
    roundTrip = time;
  }

  /** Notes a figure that is neither a time nor a count. */
  synchronized void note(Figure figure, double value) {
    noted.put(figure, value);
  }

  /** Returns a copy of the noted figures, which the caller may change. */
  synchronized Map<Figure, Double> noted() {
    return new EnumMap<>(noted);
  }

  synchronized double commandsPerSecond() {
    return commands * 1e9 / Math.max(1, busyNanos);
  }

  synchronized long count() {
    return nanos.getTotalCount();
  }

  synchronized double failures() {
    return failed;
  }

  synchronized double perSecond() {
    return count() * 1e9 / Math.max(1, busyNanos);
  }

  synchronized double micros(double percentile) {
    return nanos.getValueAtPercentile(percentile) / NANOS_IN_MICRO;
  }

  synchronized double longestMillis() {
    return nanos.getMaxValue() / 1e6;
  }

  /**
   * Returns the time that the last of so many threads waits if each handoff takes one round trip.
   */
  synchronized double idealMillis(int threads) {
    return threads * (holds.getMean() + roundTrip) / 1e6;
  }

  synchronized double allocatedEach() {
    return (double) allocated / Math.max(1, count());
  }

  synchronized double commandsEach() {
    return (double) commands / Math.max(1, count());
  }
}
