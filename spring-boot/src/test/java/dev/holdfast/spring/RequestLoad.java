package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockContendedException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Requests for locks at a fixed rate, and others without a lock at the same times, by which the
 * machine is judged.
 *
 * @param name for the output
 * @param requests emits the nanoseconds from the time at which each request is due to its end
 * @param withoutLock emits the same for requests without a lock
 * @param factor how many times as long as without a lock a request may take, and 10 ms more
 */
record RequestLoad(
    String name,
    Function<Flux<Long>, Flux<Long>> requests,
    Function<Flux<Long>, Flux<Long>> withoutLock,
    int factor) {
  static final int REQUESTS = 200;

  /** The factor by which two equal loads at the same time can differ on a busy machine. */
  static final int NOISE = 2;

  /** A call can wait for a lock of the JDK that another thread holds for microseconds. */
  static final int CALLS_PER_CHANCE_WAIT = 10;

  private static final Duration PERIOD = Duration.ofMillis(1000 / REQUESTS);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int ROUNDS = 5;
  private static final long LIMIT_MICROS = 10_000;

  private static final String OUR_THREADS = "holdfast";

  /** Emits the time at which each request is due, as soon as it has come. */
  private static Flux<Long> dueTimes() {
    return Flux.defer(
        () -> {
          long begunAt = System.nanoTime();
          return Flux.interval(Duration.ZERO, PERIOD)
              .take(REQUESTS)
              .map(tick -> begunAt + tick * PERIOD.toNanos())
              .onBackpressureBuffer();
        });
  }

  /**
   * Sends requests for a second, and again if the 99th percentile is not below 10 ms more than is
   * allowed: a busy machine stalls some requests of one round, and a slow lock those of each.
   */
  void assertFast() {
    List<Long> tooSlow =
        Stream.generate(this::p99MicrosOfASecond)
            .limit(ROUNDS)
            .takeWhile(p99 -> p99 >= LIMIT_MICROS)
            .toList();
    assertThat(tooSlow).as("p99 of each round, in microseconds").hasSizeLessThan(ROUNDS);
  }

  /** Returns how much longer requests take than is allowed without the 10 ms. */
  private long p99MicrosOfASecond() {
    var both =
        Mono.zip(
                requests.apply(dueTimes()).collectSortedList(),
                withoutLock.apply(dueTimes()).collectSortedList())
            .blockOptional(PATIENCE)
            .orElseThrow();
    assertThat(both.getT1()).hasSize(REQUESTS).allMatch(each -> each >= 0);
    long p99 = micros(both.getT1(), 99);
    long allowed = micros(both.getT2(), 99) * factor;
    System.out.printf(
        "%s, %d a second, in microseconds: p50 %d, p99 %d, allowed are 10 ms and %d%n",
        name, REQUESTS, micros(both.getT1(), 50), p99, allowed);
    return p99 - allowed;
  }

  private static long micros(List<Long> nanos, int percent) {
    return TimeUnit.NANOSECONDS.toMicros(nanos.get(REQUESTS * percent / 100 - 1));
  }

  /** Emits the nanoseconds from the time at which a call was due to its refusal. */
  static Mono<Long> refused(Mono<String> call, long dueAt) {
    return call.map(value -> -1L)
        .onErrorResume(
            LockContendedException.class,
            refusal -> Mono.fromSupplier(() -> System.nanoTime() - dueAt));
  }

  /** Returns the same for a call that blocks. */
  static long refusedBlocking(Supplier<String> call, long dueAt) {
    try {
      return call.get().isEmpty() ? 0 : -1;
    } catch (LockContendedException refusal) {
      return System.nanoTime() - dueAt;
    }
  }

  /** Counts how often this thread has waited, parked or slept. */
  static long waits() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return threads.getThreadInfo(Thread.currentThread().getId()).getWaitedCount();
  }

  static long ourThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith(OUR_THREADS))
        .count();
  }
}
