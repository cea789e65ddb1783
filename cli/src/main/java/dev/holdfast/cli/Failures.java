package dev.holdfast.cli;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockUnavailableException;
import dev.holdfast.testnodes.NodeException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** What is printed, and what the exit code is, when a command cannot do its work. */
final class Failures {
  private Failures() {}

  static int badUsage(ParameterException mistake, String[] args) {
    CommandLine command = mistake.getCommandLine();
    PrintWriter err = command.getErr();
    err.println(Message.of(String.valueOf(mistake.getMessage())));
    UnmatchedArgumentException.printSuggestions(mistake, err);
    err.println("Try: " + command.getCommandSpec().qualifiedName() + " --help");
    return ExitCode.USAGE;
  }

  static int failed(Exception failure, CommandLine command, ParseResult parsed) {
    int code = codeOf(failure);
    PrintWriter err = command.getErr();
    if (code == ExitCode.SOFTWARE) {
      err.println(Message.of("this is a mistake in holdfast, please report it:"));
      failure.printStackTrace(err);
    } else {
      err.println(Message.of(String.valueOf(failure.getMessage())));
    }
    return code;
  }

  private static int codeOf(Exception failure) {
    if (failure instanceof LockConfigurationException || failure instanceof UsageException) {
      return ExitCode.USAGE;
    }
    if (failure instanceof LockBackendException || failure instanceof NodeException) {
      return ExitCode.UNAVAILABLE;
    }
    if (failure instanceof LockUnavailableException) {
      return ExitCode.NOT_GOT;
    }
    return failure instanceof LockLostException ? ExitCode.LOST : ExitCode.SOFTWARE;
  }
}
