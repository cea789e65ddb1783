package dev.holdfast.cli.process;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How to start this program once more. */
public final class Jvm {
  /** The class that every command is run by; its name, because it knows all others. */
  public static final String MAIN = "dev.holdfast.cli.Main";

  private Jvm() {}

  /**
   * The command line of this JVM, class path and class data archive included, with other arguments.
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
