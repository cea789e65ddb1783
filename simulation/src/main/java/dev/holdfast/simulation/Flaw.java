package dev.holdfast.simulation;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * A flaw in the core, as a change of its source that is compiled for the simulator alone; or in the
 * simulated driver. Each must be caught, in the profile and by the invariant that it names.
 */
interface Flaw {
  /** One change of one source file; what is replaced must be there exactly once. */
  record Edit(String file, String before, String after) {}

  String name();

  String about();

  Profile profile();

  Invariant breaks();

  List<Edit> edits();

  default String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static List<Flaw> all() {
    return Stream.<Flaw>concat(Arrays.stream(Mutant.values()), Arrays.stream(CallMutant.values()))
        .toList();
  }

  static Flaw of(String label) {
    return all().stream()
        .filter(flaw -> flaw.label().equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "there is no mutant '"
                        + label
                        + "': give one of "
                        + all().stream().map(Flaw::label).toList()));
  }
}
