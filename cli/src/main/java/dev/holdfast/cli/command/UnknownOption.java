package dev.holdfast.cli.command;

import dev.holdfast.internal.SpellingSuggestions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Slips of the hand in the names of options. */
final class UnknownOption {
  private static final String END_OF_OPTIONS = "--";
  private static final String LONG = "--";

  private UnknownOption() {}

  /** Returns the first argument that looks like an option of this command, and is none. */
  static Optional<String> first(CommandLine command, String[] args) {
    Map<String, OptionSpec> known = command.getCommandSpec().optionsMap();
    List<String> all = List.of(args);
    for (int i = all.indexOf(command.getCommandName()) + 1; i < all.size(); i++) {
      String argument = all.get(i);
      if (argument.equals(END_OF_OPTIONS) || !argument.startsWith("-")) {
        // From here on it is the command's own affair.
        return Optional.empty();
      }
      OptionSpec option = known.get(name(argument));
      if (option == null) {
        return Optional.of(argument);
      }
      if (option.arity().min() > 0 && !argument.contains("=")) {
        i++;
      }
    }
    return Optional.empty();
  }

  /** Returns the option whose name is nearest to an argument. */
  static Optional<String> nearest(CommandLine command, String argument) {
    return SpellingSuggestions.to(
        name(argument),
        command.getCommandSpec().optionsMap().keySet().stream()
            .filter(option -> option.startsWith(LONG))
            .toList());
  }

  private static String name(String argument) {
    return argument.replaceFirst("=.*", "");
  }
}
