package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** A process that uses the same locks: the handle for the test, and the program of the process. */
final class OtherProcess {
  private static final String HELD = "held";
  private static final String DONE = "done";
  private static final Duration LONG = Duration.ofHours(1);

  /** So that a busy machine is not taken for an outage. */
  private static final String PATIENT = "2s";

  private final TckFixture fixture;
  private final Process process;
  private final Call<String> said;

  private OtherProcess(TckFixture fixture, Process process) {
    this.fixture = fixture;
    this.process = process;
    BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    this.said = Call.begin(() -> String.valueOf(output.readLine()));
  }

  /** Starts a process that holds a lock until it is killed. */
  static OtherProcess holding(TckFixture fixture, String name, Duration ttl, boolean renewed) {
    return start(fixture, "hold", name, ttl, Boolean.toString(renewed));
  }

  /** Starts a process that counts in a file and takes the lock for each step. */
  static OtherProcess counting(TckFixture fixture, String name, Path file, int times) {
    return start(fixture, "count", name, fixture.ttl(), file.toString(), Integer.toString(times));
  }

  void awaitHeld() {
    await(HELD);
  }

  /** Waits until it has done what it was for. */
  void awaitEnd() {
    await(DONE);
  }

  /** Kills the process as {@code kill -9} does, and returns when it is gone. */
  void kill() {
    process.destroyForcibly();
    fixture.soon().until("a process was gone", () -> !process.isAlive());
  }

  private void await(String word) {
    Eventually.within(LONG).until("a process said something", said::isOver);
    assertThat(said.result()).as("the output of a process").hasValue(word);
  }

  private static OtherProcess start(
      TckFixture fixture, String task, String name, Duration ttl, String... more) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"));
    command.addAll(List.of("-cp", classPath(), OtherProcess.class.getName()));
    command.addAll(
        List.of(
            ByUrl.neededInProcesses(fixture),
            fixture.environment().hasNodeOptions() ? PATIENT : ""));
    command.addAll(List.of(task, name, Long.toString(ttl.toMillis())));
    command.addAll(List.of(more));
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      OtherProcess started = new OtherProcess(fixture, process);
      fixture.atEnd(started::kill);
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the class path of this process, with the entries that a launcher has added. */
  static String classPath() {
    Set<String> entries = new LinkedHashSet<>();
    for (ClassLoader loader = Thread.currentThread().getContextClassLoader();
        loader != null;
        loader = loader.getParent()) {
      if (loader instanceof URLClassLoader added) {
        for (URL url : added.getURLs()) {
          entries.add(fileOf(url));
        }
      }
    }
    entries.add(System.getProperty("java.class.path", ""));
    entries.add(System.getProperty("jdk.module.path", "")); // of an author with a module-info
    entries.remove("");
    return String.join(File.pathSeparator, entries);
  }

  private static String fileOf(URL url) {
    try {
      return Path.of(url.toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /**
   * Runs in the other process, and ends when the parent process has ended.
   *
   * @param arguments a URL, a nodeTimeout or nothing, the task, a lock's name and ttl, and more
   */
  public static void main(String[] arguments) throws Exception {
    Thread watch = new Thread(OtherProcess::endWithParent, "parent");
    watch.setDaemon(true);
    watch.start();
    Map<String, String> options = new HashMap<>(Map.of("retryDelay", "20ms"));
    if (!arguments[1].isEmpty()) {
      options.put("nodeTimeout", arguments[1]);
      options.put("quorumTimeout", arguments[1]);
      options.put("connectTimeout", "10s");
    }
    Duration ttl = Duration.ofMillis(Long.parseLong(arguments[4]));
    LockRequest request = LockRequest.of(arguments[3], ttl);
    try (LockManager locks = opened(arguments[0], options)) {
      if (arguments[2].equals("hold")) {
        hold(locks, Boolean.parseBoolean(arguments[5]) ? request.keepAliveUpTo(LONG) : request);
      } else {
        count(locks, request, Path.of(arguments[5]), Integer.parseInt(arguments[6]));
      }
    }
  }

  private static LockManager opened(String url, Map<String, String> options) {
    while (true) {
      try {
        return LockManager.open(url, options);
      } catch (LockOutageException outage) {
        LockSupport.parkNanos(1_000_000); // on a machine that stalls, the next may do better
      }
    }
  }

  private static void hold(LockManager locks, LockRequest request) throws InterruptedException {
    Lease lease = got(locks, request);
    System.out.println(HELD);
    new CountDownLatch(1).await();
    lease.close();
  }

  private static void count(LockManager locks, LockRequest request, Path file, int times)
      throws IOException, InterruptedException {
    for (int i = 0; i < times; i++) {
      Lease lease = got(locks, request);
      int number = Integer.parseInt(Files.readString(file));
      LockSupport.parkNanos(10_000);
      Files.writeString(file, Integer.toString(number + 1));
      lease.close();
    }
    System.out.println(DONE);
  }

  private static Lease got(LockManager locks, LockRequest request) throws InterruptedException {
    while (true) {
      try {
        Optional<Lease> lease = locks.tryAcquire(request.waitAtMost(Duration.ofMillis(200)));
        if (lease.isPresent()) {
          return lease.get();
        }
      } catch (LockOutageException outage) {
        LockSupport.parkNanos(1_000_000); // on a machine that stalls, the next may do better
      }
    }
  }

  /** Ends this process when its standard input ends, because then the parent process has ended. */
  private static void endWithParent() {
    try {
      System.in.readAllBytes();
    } catch (IOException e) {
      // gone anyway
    }
    Runtime.getRuntime().halt(1);
  }
}
