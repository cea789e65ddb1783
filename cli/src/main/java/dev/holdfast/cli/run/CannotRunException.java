package dev.holdfast.cli.run;

/** The command cannot be run, and nothing of it has been run. */
final class CannotRunException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  CannotRunException(int exitCode, String command, String why) {
    super("cannot run '" + command + "': " + why);
    this.exitCode = exitCode;
  }

  int exitCode() {
    return exitCode;
  }
}
