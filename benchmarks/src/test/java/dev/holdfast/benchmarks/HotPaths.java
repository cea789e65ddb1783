package dev.holdfast.benchmarks;

import dev.holdfast.testnodes.TestNodes;
import java.util.concurrent.TimeUnit;
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
 * One contestant at a time, by JMH: the memory that an acquisition and its release allocate (with
 * {@code -prof gc}) and take. How to run it is in docs/performance.md.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 3)
@Measurement(iterations = 5, time = 3)
@SuppressWarnings("NullAway.Init")
public class HotPaths {
  /** A contestant's name. */
  @Param({
    "floor",
    "raw-jedis",
    "lettuce-plain",
    "lettuce-safe",
    "jedis-plain",
    "jedis-safe",
    "redisson-plain",
    "redisson-safe",
    "redissonredlock"
  })
  public String contestant;

  /** How many servers. */
  @Param("5")
  public int nodes;

  private TestNodes servers;
  private Contestant opened;

  /** Starts the servers. */
  @Setup(Level.Trial)
  public void open() throws Exception {
    servers = TestNodes.start(nodes);
    opened = Kinds.of(contestant).opener().open(servers.uris());
  }

  /** A lock that no other thread wants. */
  @Benchmark
  public boolean acquireAndRelease() throws Exception {
    return opened.locked("hot", () -> {});
  }

  /** Ends the servers. */
  @TearDown(Level.Trial)
  public void close() {
    opened.close();
    servers.close();
  }
}
