package dev.holdfast.redlock.jedis;

import com.sun.management.OperatingSystemMXBean;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.testnodes.TestNodes;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.ToDoubleFunction;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;

/**
 * Compares the ways in which Jedis can talk to N nodes: the time of an acquire and its release in
 * each, in turns in one process, with one dedicated connection to each node, beside the same
 * commands with nothing around them, on connections of each thread's own. The figures, and how to
 * run it, are in docs/adr/0004-how-jedis-talks-to-n-nodes.md.
 */
final class WaysToTalk implements AutoCloseable {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final long TURN_NANOS = Duration.ofSeconds(1).toNanos();
  private static final int TURNS = 7;
  private static final int MAX_TIMES = 100_000;
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final String RELEASE =
      "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

  private final TestNodes servers;
  private final List<Runnable> opened = new ArrayList<>();
  private final Map<String, Lock> ways = new LinkedHashMap<>();
  private final Map<String, List<Result>> results = new LinkedHashMap<>();

  /** Acquires and releases a lock. */
  private interface Lock {
    void takeAndGiveBack(String name) throws Exception;
  }

  private record Result(double p50Micros, double perSecond, double cpuMicros) {}

  private WaysToTalk(int nodes) {
    servers = TestNodes.start(nodes);
    List<HostAndPort> addresses =
        servers.all().stream().map(n -> new HostAndPort(n.host(), n.port())).toList();
    ways.put("bare Jedis", bare(addresses));
    JedisRedlock.Builder direct = builder();
    servers.uris().forEach(uri -> direct.node(URI.create(uri)));
    LockManager loop = direct.open();
    ways.put("I/O loop", of(loop));
    ways.put("loop's thread", onItsThread(loop));
    JedisRedlock.Builder threads = builder();
    for (HostAndPort address : addresses) {
      ConnectionPoolConfig one = new ConnectionPoolConfig();
      one.setMaxTotal(1);
      ConnectionPool pool =
          new ConnectionPool(address, DefaultJedisClientConfig.builder().build(), one);
      opened.add(pool::close);
      threads.client(pool, address);
    }
    ways.put("thread per node", of(threads.open()));
  }

  public static void main(String[] arguments) throws Exception {
    System.out.printf(
        "%d processors, load %.1f before%n", Runtime.getRuntime().availableProcessors(), load());
    for (int nodes : new int[] {1, 3, 5}) {
      for (int threads : new int[] {1, 32}) {
        try (WaysToTalk comparison = new WaysToTalk(nodes)) {
          comparison.run(threads);
          comparison.print(nodes, threads);
        }
      }
    }
    System.out.printf("%nload %.1f after%n", load());
  }

  private static double load() {
    return PROCESS.getSystemLoadAverage();
  }

  private static JedisRedlock.Builder builder() {
    return JedisRedlock.builder()
        .options(RedlockOptions.defaults().nodeTimeout(Duration.ofSeconds(1)));
  }

  private Lock of(LockManager locks) {
    opened.add(0, locks::close);
    return name -> locks.tryAcquire(name, TTL).orElseThrow().close();
  }

  /** The same loop with a thread of its own alone: no caller does input and output. */
  private static Lock onItsThread(LockManager locks) {
    return name ->
        locks
            .tryAcquireAsync(LockRequest.of(name, TTL))
            .get()
            .orElseThrow()
            .releaseAsync()
            .toCompletableFuture()
            .get();
  }

  /** All written before any is read, without a lock's logic. */
  private static Lock bare(List<HostAndPort> addresses) {
    ThreadLocal<List<Connection>> connections =
        ThreadLocal.withInitial(() -> addresses.stream().map(Connection::new).toList());
    return name -> {
      String token = UUID.randomUUID().toString();
      List<Connection> own = connections.get();
      toAll(own, Command.SET, name, token, "NX", "PX", "30000");
      toAll(own, Command.EVAL, RELEASE, "1", name, token);
    };
  }

  private static void toAll(List<Connection> connections, Command command, String... words) {
    for (Connection connection : connections) {
      connection.sendCommand(command, words);
      connection.getMany(0); // sends it
    }
    connections.forEach(Connection::getUnflushedObject);
  }

  private void run(int threads) {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    for (int turn = 0; turn <= TURNS; turn++) {
      for (Map.Entry<String, Lock> way : ways.entrySet()) {
        Result result = measure(way.getValue(), threads, pool);
        if (turn > 0) { // the first one warms up
          results.computeIfAbsent(way.getKey(), w -> new ArrayList<>()).add(result);
        }
      }
    }
    pool.shutdown();
  }

  private static Result measure(Lock lock, int threads, ExecutorService pool) {
    List<CompletableFuture<long[]>> workers = new ArrayList<>();
    long cpu = PROCESS.getProcessCpuTime();
    long start = System.nanoTime();
    for (int i = 0; i < threads; i++) {
      String name = "lock-" + i;
      workers.add(CompletableFuture.supplyAsync(() -> times(lock, name, start), pool));
    }
    CompletableFuture.allOf(workers.toArray(CompletableFuture[]::new)).join();
    double seconds = (System.nanoTime() - start) / 1e9;
    double cpuMicros = (PROCESS.getProcessCpuTime() - cpu) / 1e3;
    long[] all = workers.stream().flatMapToLong(w -> Arrays.stream(w.join())).sorted().toArray();
    return new Result(all[all.length / 2] / 1e3, all.length / seconds, cpuMicros / all.length);
  }

  private static long[] times(Lock lock, String name, long start) {
    long[] times = new long[MAX_TIMES];
    int count = 0;
    try {
      for (long now = start; now - start < TURN_NANOS && count < MAX_TIMES; count++) {
        long from = System.nanoTime();
        lock.takeAndGiveBack(name);
        now = System.nanoTime();
        times[count] = now - from;
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return Arrays.copyOf(times, count);
  }

  private void print(int nodes, int threads) {
    System.out.printf("%nN=%d, %d threads%n", nodes, threads);
    results.forEach(
        (way, all) ->
            System.out.printf(
                "%-16s p50 %s µs, %s a second, CPU %s µs each%n",
                way,
                spread(all, Result::p50Micros),
                spread(all, Result::perSecond),
                spread(all, Result::cpuMicros)));
  }

  /** Median, least and most. */
  private static String spread(List<Result> all, ToDoubleFunction<Result> figure) {
    double[] sorted = all.stream().mapToDouble(figure).sorted().toArray();
    return String.format(
        "%6.0f (%.0f to %.0f)", sorted[sorted.length / 2], sorted[0], sorted[sorted.length - 1]);
  }

  @Override
  public void close() {
    opened.forEach(Runnable::run);
    servers.close();
  }
}
