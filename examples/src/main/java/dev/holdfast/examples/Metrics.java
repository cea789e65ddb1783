package dev.holdfast.examples;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.micrometer.HoldfastMetrics;
import io.micrometer.core.instrument.Tags;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The metrics of a lock manager, for Prometheus to read at {@code /metrics} of this machine. */
final class Metrics implements AutoCloseable {
  private static final int PORT = 9400;
  private static final Duration TTL = Duration.ofSeconds(30);

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final HoldfastMetrics metrics;
  private final HttpServer server;

  private Metrics(LockManager locks, String name, int port) throws IOException {
    metrics = new HoldfastMetrics(locks, name, Tags.empty());
    metrics.bindTo(registry);
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.createContext("/metrics", this::answer);
    server.start();
  }

  /**
   * Exposes the metrics of a manager.
   *
   * @param locks the manager, which stays open
   * @param name the value of the tag {@code manager}
   * @param port 0 for any free port
   */
  static Metrics expose(LockManager locks, String name, int port) throws IOException {
    return new Metrics(locks, name, port);
  }

  private void answer(HttpExchange exchange) throws IOException {
    byte[] text = registry.scrape().getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    exchange.sendResponseHeaders(200, text.length);
    try (OutputStream body = exchange.getResponseBody()) {
      body.write(text);
    }
  }

  /** Returns the address for Prometheus. */
  String url() {
    return "http://localhost:" + server.getAddress().getPort() + "/metrics";
  }

  /** Ends the server and the metrics. */
  @Override
  public void close() {
    server.stop(0);
    metrics.close();
    registry.close();
  }

  /** Works again and again until the executor is shut down. The metrics show each result. */
  static ScheduledExecutorService work(LockManager locks, LockRequest request, Duration pause) {
    ScheduledExecutorService worker = Executors.newSingleThreadScheduledExecutor();
    worker.scheduleWithFixedDelay(
        () -> {
          try {
            locks.tryRunLocked(request, lease -> {});
          } catch (LockException e) {
            // the metrics count it
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        },
        0,
        pause.toMillis(),
        TimeUnit.MILLISECONDS);
    return worker;
  }

  /**
   * Works until the process is ended, so that there is something to see.
   *
   * @param args a URL, for example {@code redlock:redis://h1,redis://h2,redis://h3}
   */
  public static void main(String[] args) throws Exception {
    try (LockManager locks = LockManager.open(args[0]);
        Metrics metrics = expose(locks, "example", PORT)) {
      System.out.println(metrics.url());
      work(locks, LockRequest.of("report", TTL), Duration.ofMillis(100))
          .awaitTermination(Long.MAX_VALUE, TimeUnit.DAYS);
    }
  }
}
