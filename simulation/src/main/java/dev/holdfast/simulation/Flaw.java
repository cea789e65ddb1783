package dev.holdfast.simulation;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * A flaw in the core, as a change of its source that is compiled for the simulator alone, or in the
 * simulated driver. Each must be caught, in the profile and by the invariant that it names.
 */
interface Flaw {
  /** One change of one source file. The replaced text must be there exactly once. */
  record Edit(String file, String before, String after) {}

  /**
   * The terms of a flaw.
   *
   * @param about the mistake
   * @param profile where it shows
   * @param breaks the invariant that catches it
   * @param edits empty if the simulated driver has the flaw
   */
  record Description(String about, Profile profile, Invariant breaks, List<Edit> edits) {}

  String name();

  Description description();

  default String about() {
    return description().about();
  }

  default Profile profile() {
    return description().profile();
  }

  default Invariant breaks() {
    return description().breaks();
  }

  default List<Edit> edits() {
    return description().edits();
  }

  static Edit edit(String file, String before, String after) {
    return new Edit(file, before, after);
  }

  default String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static List<Flaw> all() {
    return Stream.<Flaw[]>of(
            Mutant.values(), GuardMutant.values(), CallMutant.values(), TransferMutant.values())
        .flatMap(Arrays::stream)
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
