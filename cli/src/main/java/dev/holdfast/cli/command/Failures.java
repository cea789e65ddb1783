package dev.holdfast.cli.command;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockOutageException;
import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.process.Message;
import dev.holdfast.testnodes.NodeException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Messages and exit codes of commands that cannot do their work. */
public final class Failures {
  private Failures() {}

  public static int badUsage(ParameterException mistake, String[] args) {
    CommandLine command = mistake.getCommandLine();
    ParameterException shown = mistake;
    if (mistake instanceof MissingParameterException) {
      // A mistyped option is more helpful than the required one that is missing for it.
      shown =
          UnknownOption.first(command, args)
              .<ParameterException>map(o -> new UnmatchedArgumentException(command, List.of(o)))
              .orElse(mistake);
    }
    PrintWriter err = command.getErr();
    err.println(Message.of(String.valueOf(shown.getMessage()).replaceFirst("^Error: ", "")));
    Optional<String> unknown =
        shown instanceof UnmatchedArgumentException unmatched && unmatched.isUnknownOption()
            ? Optional.of(unmatched.getUnmatched().get(0))
            : Optional.empty();
    unknown
        .flatMap(option -> UnknownOption.nearest(command, option))
        .ifPresent(nearest -> err.println("The nearest is " + nearest + "."));
    if (unknown.isEmpty()) {
      UnmatchedArgumentException.printSuggestions(shown, err);
    }
    err.println("Try: " + command.getCommandSpec().qualifiedName() + " --help");
    return ExitCode.USAGE;
  }

  public static int failed(Exception failure, CommandLine command, ParseResult parsed) {
    return failed(failure, command.getErr());
  }

  public static int failed(Throwable failure, PrintWriter err) {
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
    if (failure instanceof LockOutageException || failure instanceof NodeException) {
      return ExitCode.UNAVAILABLE;
    }
    if (failure instanceof LockContendedException) {
      return ExitCode.NOT_GOT;
    }
    return failure instanceof LockLostException ? ExitCode.LOST : ExitCode.SOFTWARE;
  }
}
