package dev.holdfast.cli.run;

import java.util.ArrayList;
import java.util.List;

/** The arguments of {@code holdfast run} for the lock {@code job}. */
final class RunArgs {
  private RunArgs() {}

  static String[] of(String url, List<String> options, String... command) {
    List<String> args = new ArrayList<>(List.of("run", "--name", "job", "--url", url));
    args.addAll(options);
    args.add("--");
    args.addAll(List.of(command));
    return args.toArray(new String[0]);
  }

  /** Returns the arguments that run a script of sh. */
  static String[] ofScript(String url, List<String> options, String script) {
    return of(url, options, "sh", "-c", script);
  }
}
