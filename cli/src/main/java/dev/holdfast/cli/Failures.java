package dev.holdfast.cli;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockUnavailableException;
import dev.holdfast.testnodes.NodeException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** What is printed, and what the exit code is, when a command cannot do its work. */
final class Failures {
  private Failures() {}

  static int badUsage(ParameterException mistake, String[] args) {
    CommandLine command = mistake.getCommandLine();
    ParameterException told = mistake;
    if (mistake instanceof MissingParameterException) {
      // Whoever mistypes a required option is helped by hearing of that.
      told =
          UnknownOption.first(command, args)
              .<ParameterException>map(o -> new UnmatchedArgumentException(command, List.of(o)))
              .orElse(mistake);
    }
    PrintWriter err = command.getErr();
    err.println(Message.of(String.valueOf(told.getMessage()).replaceFirst("^Error: ", "")));
    Optional<String> unknown =
        told instanceof UnmatchedArgumentException unmatched && unmatched.isUnknownOption()
            ? Optional.of(unmatched.getUnmatched().get(0))
            : Optional.empty();
    unknown
        .flatMap(option -> UnknownOption.nearest(command, option))
        .ifPresent(nearest -> err.println("The nearest is " + nearest + "."));
    if (unknown.isEmpty()) {
      UnmatchedArgumentException.printSuggestions(told, err);
    }
    err.println("Try: " + command.getCommandSpec().qualifiedName() + " --help");
    return ExitCode.USAGE;
  }

  static int failed(Exception failure, CommandLine command, ParseResult parsed) {
    return failed(failure, command.getErr());
  }

  static int failed(Throwable failure, PrintWriter err) {
    int code = codeOf(failure);
    if (code == ExitCode.SOFTWARE) {
      err.println(Message.of("this is a mistake in holdfast, please report it:"));
      failure.printStackTrace(err);
    } else {
      err.println(Message.of(String.valueOf(failure.getMessage())));
    }
    return code;
  }

  private static int codeOf(Throwable failure) {
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
