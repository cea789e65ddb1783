package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.cli.backend.Backend;
import dev.holdfast.cli.backend.LocalNodes;
import dev.holdfast.cli.process.OsSignal;
import dev.holdfast.cli.process.ProcessContext;
import dev.holdfast.testnodes.TestNodes;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.logging.LogManager;
import java.util.stream.Stream;

/**
 * A command on a thread of this JVM, which looks like a process but has no signals. The standard
 * streams are the JVM's, so that one command runs at a time.
 */
final class ThisJvm extends Process {
  private static final Semaphore ONE_AT_A_TIME = new Semaphore(1);
  private static final int STDIN_BYTES = 1 << 16;
  private static final String JAVA_OPTIONS = "HOLDFAST_JAVA_OPTS";
  private static final String TERMINAL = "-Dholdfast.terminal.";

  static {
    connectOnce();
  }

  private final PipedInputStream stdin = new PipedInputStream(STDIN_BYTES);
  private final PipedOutputStream typed = new PipedOutputStream();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final Map<String, String> environment = new HashMap<>(System.getenv());
  private final Path out;
  private final Path err;
  private final Thread thread;
  private volatile int exitCode;

  /**
   * Starts a command.
   *
   * @param more variables in addition to those of this JVM
   * @param out receives stdout
   * @param err receives stderr
   */
  ThisJvm(Map<String, String> more, Path out, Path err, String... args) throws IOException {
    this.out = out;
    this.err = err;
    typed.connect(stdin);
    environment.putAll(more);
    if (!Stream.of(more.getOrDefault(JAVA_OPTIONS, TERMINAL).split(" ", -1))
        .allMatch(option -> option.startsWith(TERMINAL))) {
      throw new IllegalArgumentException("options of Java need a process: " + more);
    }
    try {
      if (!ONE_AT_A_TIME.tryAcquire(Limits.LONG.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AssertionError("another command runs in this JVM");
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    thread = new Thread(() -> run(args), "holdfast " + List.of(args));
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Has the driver's classes loaded, without an archive of them. On a busy machine that alone can
   * take longer than the default connectTimeout of the first command.
   */
  private static void connectOnce() {
    try (TestNodes nodes = TestNodes.start(1);
        LockManager locks = new Backend(LocalNodes.url(nodes) + "?connectTimeout=60s").open()) {
      assertThat(locks.inspect("warm-up")).isEmpty();
    }
  }

  private void run(String... args) {
    InputStream realIn = System.in;
    PrintStream realOut = System.out;
    PrintStream realErr = System.err;
    Locale realLocale = Locale.getDefault(Locale.Category.FORMAT);
    ProcessContext real = ProcessContext.current();
    exitCode = 1;
    try (PrintStream ownOut = appendingTo(out);
        PrintStream ownErr = appendingTo(err)) {
      System.setIn(stdin);
      System.setOut(ownOut);
      System.setErr(ownErr);
      Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
      ProcessContext.replace(new Simulated());
      exitCode = Main.execute(args);
    } catch (IOException e) {
      e.printStackTrace(realErr);
    } finally {
      ProcessContext.replace(real);
      Locale.setDefault(Locale.Category.FORMAT, realLocale);
      System.setIn(realIn);
      System.setOut(realOut);
      System.setErr(realErr);
      logAgain(realErr);
      close(typed, realErr);
      ONE_AT_A_TIME.release();
      ended.countDown();
    }
  }

  private static PrintStream appendingTo(Path file) throws IOException {
    return new PrintStream(new FileOutputStream(file.toFile(), true), true, UTF_8);
  }

  /** Undoes the changes of commands to the loggers of their JVM. */
  private static void logAgain(PrintStream err) {
    try {
      LogManager.getLogManager().readConfiguration();
    } catch (IOException e) {
      e.printStackTrace(err);
    }
  }

  private static void close(OutputStream stream, PrintStream err) {
    try {
      stream.close();
    } catch (IOException e) {
      e.printStackTrace(err);
    }
  }

  @Override
  public OutputStream getOutputStream() {
    return typed;
  }

  @Override
  public InputStream getInputStream() {
    return InputStream.nullInputStream();
  }

  @Override
  public InputStream getErrorStream() {
    return InputStream.nullInputStream();
  }

  @Override
  public int waitFor() throws InterruptedException {
    ended.await();
    return exitCode;
  }

  @Override
  public boolean waitFor(long timeout, TimeUnit unit) throws InterruptedException {
    return ended.await(timeout, unit);
  }

  @Override
  public int exitValue() {
    if (ended.getCount() > 0) {
      throw new IllegalThreadStateException("the command runs");
    }
    return exitCode;
  }

  @Override
  public boolean isAlive() {
    return ended.getCount() > 0;
  }

  @Override
  public Stream<ProcessHandle> descendants() {
    return Stream.empty();
  }

  /** Interrupts the command, which then releases its lock. */
  @Override
  public void destroy() {
    if (isAlive()) {
      thread.interrupt();
    }
  }

  /** The properties that the launcher and the system would give a process. */
  private final class Simulated extends ProcessContext {
    @Override
    public Map<String, String> environment() {
      return environment;
    }

    @Override
    public boolean stdinIsTerminal() {
      return terminal("in").equals("true");
    }

    @Override
    public boolean stdoutIsTerminal() {
      return terminal("out").equals("true");
    }

    @Override
    public int columns() {
      return 0;
    }

    private String terminal(String property) {
      return Stream.of(variable(JAVA_OPTIONS).split(" ", -1))
          .flatMap(option -> valueOf(TERMINAL + property + "=", option).stream())
          .findFirst()
          .orElse("");
    }

    @Override
    public void handle(OsSignal signal, Consumer<OsSignal> handler) {}

    @Override
    public void refuseStops() {}

    @Override
    public Process start(ProcessBuilder builder) throws IOException {
      Process child =
          builder
              .redirectOutput(ProcessBuilder.Redirect.appendTo(out.toFile()))
              .redirectError(ProcessBuilder.Redirect.appendTo(err.toFile()))
              .start();
      Thread pump = new Thread(() -> pass(stdin, child.getOutputStream()), "holdfast stdin");
      pump.setDaemon(true);
      pump.start();
      return child;
    }
  }

  private static Optional<String> valueOf(String start, String option) {
    return option.startsWith(start)
        ? Optional.of(option.substring(start.length()))
        : Optional.empty();
  }

  private static void pass(InputStream from, OutputStream to) {
    byte[] some = new byte[STDIN_BYTES];
    try (to) {
      for (int bytes = from.read(some); bytes >= 0; bytes = from.read(some)) {
        to.write(some, 0, bytes);
        to.flush();
      }
    } catch (IOException e) {
      // The command has ended, or does not read.
    }
  }
}
