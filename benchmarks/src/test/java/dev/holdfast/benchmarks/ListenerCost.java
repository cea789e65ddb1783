package dev.holdfast.benchmarks;

import dev.holdfast.LockListener;
import dev.holdfast.testnodes.TestNodes;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Holdfast without and with a listener, by JMH: the memory that an acquisition and its release
 * allocate (with {@code -prof gc}). How to run it is in docs/performance.md.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 3)
@Measurement(iterations = 5, time = 3)
@SuppressWarnings("NullAway.Init")
public class ListenerCost {
  /** The driver. */
  @Param({"lettuce", "jedis", "redisson"})
  public String driver;

  /** Whether the manager has a listener. */
  @Param({"false", "true"})
  public boolean hasListener;

  /** How many servers. */
  @Param("5")
  public int nodes;

  private TestNodes servers;
  private Ours locks;

  /** Starts the servers. */
  @Setup(Level.Trial)
  public void open() throws Exception {
    LockListener[] listeners =
        hasListener ? new LockListener[] {new Counts()} : new LockListener[0];
    servers = TestNodes.start(nodes);
    locks = new Ours(driver, servers.uris(), Ours.SAFE, listeners);
  }

  /** A lock that no other thread wants. */
  @Benchmark
  public boolean acquireAndRelease() throws Exception {
    return locks.locked("hot", () -> {});
  }

  /** Ends the servers. */
  @TearDown(Level.Trial)
  public void close() {
    locks.close();
    servers.close();
  }

  /** Adds up what metrics would count, and allocates nothing. */
  private static final class Counts implements LockListener {
    private final LongAdder waits = new LongAdder();
    private final LongAdder holds = new LongAdder();
    private final LongAdder grantedVotes = new LongAdder();

    @Override
    public void onGranted(String name, long leaseId, long waitedNanos, int votes, int margin) {
      waits.add(waitedNanos);
    }

    @Override
    public void onReleased(String name, long leaseId, long heldNanos, boolean confirmed) {
      holds.add(heldNanos);
    }

    @Override
    public void onVote(String node, Vote vote) {
      if (vote == Vote.GRANTED) {
        grantedVotes.increment();
      }
    }
  }
}
