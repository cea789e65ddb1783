package dev.holdfast.examples.shop.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** An instance of the shop in a process of its own. */
final class ShopInstance {
  private static final Duration START_LIMIT = Duration.ofMinutes(5);
  private static final long POLL_MILLIS = 50;

  /**
   * Exceeds the 30 s that the web server gives its requests, the 10 s that executors and schedulers
   * then give their tasks, and the 20 s that the lock manager then gives its holders.
   */
  private static final long STOP_LIMIT_SECONDS = 75;

  private final String name;
  private final Process process;
  private final Path output;

  private ShopInstance(String name, Process process, Path output) {
    this.name = name;
    this.process = process;
    this.output = output;
  }

  /**
   * Starts an instance, and does not wait for it.
   *
   * @param folder for the file with its output
   * @param properties of Spring Boot, such as {@code server.port=0}
   */
  static ShopInstance start(String name, Path folder, List<String> properties) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(InstanceMain.class.getName());
    properties.forEach(property -> command.add("--" + property));
    Path output = folder.resolve(name + ".log");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    return new ShopInstance(name, process, output);
  }

  String name() {
    return name;
  }

  /**
   * Waits until the instance has a URL.
   *
   * @throws IllegalStateException with the instance's output, if it ends or takes too long
   */
  String awaitUrl(Supplier<Optional<String>> url) throws InterruptedException {
    long begin = System.nanoTime();
    while (process.isAlive() && System.nanoTime() - begin < START_LIMIT.toNanos()) {
      Optional<String> found = url.get();
      if (found.isPresent()) {
        return found.get();
      }
      Thread.sleep(POLL_MILLIS);
    }
    throw new IllegalStateException(name + " has not started:\n" + readOutput());
  }

  long pid() {
    return process.pid();
  }

  /** Ends the instance as a crash would. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Asks the instance to end. */
  void requestStop() {
    process.destroy();
  }

  /** Waits until the instance ends, without a limit. */
  void awaitEnd() throws InterruptedException {
    process.waitFor();
  }

  /**
   * Waits until the instance has ended, and kills it if it takes too long or if this thread is
   * interrupted, which it then stays.
   */
  void awaitStopped() {
    try {
      process.waitFor(STOP_LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      process.destroyForcibly(); // without effect on one that has ended
    }
  }

  private String readOutput() {
    try {
      return Files.readString(output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
