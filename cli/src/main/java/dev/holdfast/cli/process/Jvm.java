package dev.holdfast.cli.process;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line by which this program starts another process of itself. */
public final class Jvm {
  /** The class that runs every command. It is a name, because that class knows all others. */
  public static final String MAIN = "dev.holdfast.cli.Main";

  private Jvm() {}

  /**
   * Returns the command line of this JVM, including class path and class data archive, with other
   * arguments.
   */
  public static List<String> again(List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(MAIN);
    command.addAll(arguments);
    return command;
  }
}
