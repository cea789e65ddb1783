package dev.holdfast.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The programs that a test starts. Closing ends those that still run. */
public final class Programs implements AutoCloseable {
  private final List<Program> started = new ArrayList<>();

  /** Starts the command as a process. */
  public Program holdfast(String... args) {
    return add(Program.holdfast(args));
  }

  /** Starts the command as a process. */
  public Program holdfast(Map<String, String> environment, String... args) {
    return add(Program.holdfast(environment, args));
  }

  /** Runs the command in this JVM, where it gets no signals. */
  public Program inThisJvm(String... args) {
    return add(Program.inThisJvm(args));
  }

  /** Runs the command in this JVM, where it gets no signals. */
  public Program inThisJvm(Map<String, String> environment, String... args) {
    return add(Program.inThisJvm(environment, args));
  }

  /** Starts any command line as a process. */
  public Program start(Map<String, String> environment, List<String> command) {
    return add(Program.start(environment, command));
  }

  private Program add(Program program) {
    started.add(program);
    return program;
  }

  @Override
  public void close() {
    started.forEach(Program::close);
    started.clear();
  }
}
