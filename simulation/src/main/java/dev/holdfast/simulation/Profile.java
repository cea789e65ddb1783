package dev.holdfast.simulation;

import java.util.Arrays;
import java.util.Locale;

/** A kind of weather: which faults a run has, and which invariants are asked of it. */
enum Profile {
  CALM("fast network, good clocks, no fault", new Rates().undisturbed()),
  BUSY("many short holds on few names, no fault", new Rates().undisturbed().holds(40, 1_000)),
  SLOW(
      "one message in twelve stalls, and all behind it, for up to 1.5 s",
      new Rates().stalls(80, 1_500)),
  SHORT_HOLDS(
      "short holds; one message in eight stalls or ends its connection",
      new Rates().holds(30, 2_000).stalls(60, 400).breaks(60)),
  LOSSY(
      "connections end with and without the command having arrived, or arriving much later",
      new Rates().stalls(20, 400).breaks(30)),
  PAUSES(
      "client processes and nodes stand still, also between two sends of one round",
      new Rates().clientPauses(8, 8).nodePauses(8).stalls(5, 300)),
  CLOCKS(
      "clocks drift by up to 0.45 % either way; clients' wall clocks are set, by up to an hour",
      new Rates().lasts(20).drift(4_500).wallSteps(8).stalls(5, 300)),
  FENCES(
      "clients' wall clocks are up to 8 s apart, and set by as much; one name, short holds;"
          + " messages"
          + " stall, connections break, processes stand still",
      new Rates()
          .unguarded()
          .oneName()
          .holds(30, 600)
          .stalls(60, 300)
          .breaks(60)
          .clientPauses(6, 8)
          .wallSteps(6)
          .clocksApart(8_000)),
  FENCED_ROUNDS(
      "rounds last nearly as long as ttls, clients' wall clocks are up to 8 s apart, and set by as"
          + " much; one name, very short holds; messages stall, connections break",
      new Rates()
          .lasts(30)
          .unguarded()
          .ambushes()
          .oneName()
          .longRounds(1_000)
          .holds(5, 60)
          .stalls(120, 600)
          .breaks(120)
          .wallSteps(6)
          .clocksApart(8_000)),
  SLEEPS(
      "clients' machines sleep: their monotonic clocks stand still, their wall clocks do not",
      new Rates().drift(1_000).sleeps(8)),
  PARTITIONS(
      "some clients and some nodes cannot reach each other for a while",
      new Rates().partitions(8).breaks(2)),
  CRASHES(
      "nodes crash and come back with their data; their script caches are empty then",
      new Rates().crashes(8).breaks(2)),
  DELAYED_RESTARTS(
      "nodes crash, and come back empty after the longest ttl, as the Redlock page requires",
      new Rates().unguarded().emptyCrashesWithRest(3).breaks(2)),
  DATA_LOSS(
      "no restart guard: nodes lose data and vote at once: empty restarts, FLUSHALL, a rolled-back"
          + " AOF, a clock that jumps ahead",
      new Rates().unguarded().dataLosses(4)),
  GUARDED(
      "any number of nodes lose data: empty restarts, FLUSHALL, a rolled-back AOF, a lost guard"
          + " record, SWAPDB, REPLICAOF and back",
      new Rates().guarded(6).holds(15_000, 2_000).stalls(5, 300)),
  GUARDED_CLOCKS(
      "the same, and clients' wall clocks are up to an hour apart and are set, and nodes come back"
          + " with"
          + " clocks that are up to an hour off",
      new Rates().guarded(3).holds(15_000, 2_000).drift(4_500).clocksOff(3).wallSteps(6)),
  CORRECTED_CLOCKS(
      "nodes come back empty with a clock that is up to an hour behind, and is corrected soon",
      new Rates().guarded(1).holds(15_000, 2_000).clocksMended(6).stalls(5, 300)),
  STRANGERS(
      "one client has a longer or a shorter maxTtl than the others, or fewer nodes, and continues"
          + " after healing; one node after another loses data; connections break, and some clients"
          + " and"
          + " some nodes cannot reach each other for a while",
      new Rates()
          .lasts(15)
          .guarded(6)
          .losesAMinority()
          .stranger()
          .longestTtl(2_000)
          .oneName()
          .holds(15_000, 2_000)
          .stalls(30, 500)
          .breaks(30)
          .partitions(8)),
  GUARDED_ROUNDS(
      "a round takes up to 1 s and ttls are only slightly longer; messages stall, connections"
          + " break; nodes"
          + " lose data, also in the middle of a round in which they voted; clients' wall clocks"
          + " are"
          + " up to 8 s apart, and set",
      new Rates()
          .lasts(20)
          .guarded(4)
          .losesAMinority()
          .ambushes()
          .longRounds(1_000)
          .oneName()
          .holds(5_000, 300)
          .stalls(60, 1_200)
          .breaks(30)
          .partitions(8)
          .wallSteps(6)
          .clocksApart(8_000)),
  ERRORS(
      "nodes reply with errors for a while; SCRIPT FLUSH",
      new Rates().errorSpells(8).stalls(5, 300)),
  DEATHS(
      "client processes die and come back; managers are closed",
      new Rates().clientDeaths(5).closes(4).stalls(20, 300)),
  BAD_DRIVER(
      "connections end, and the driver sends unanswered commands again",
      new Rates().stalls(20, 400).breaks(30).driverReplays()),
  EVERYTHING(
      "all of these, except for sleep, lost data and the bad driver",
      new Rates()
          .drift(3_000)
          .wallSteps(2)
          .stalls(10, 400)
          .breaks(5)
          .clientPauses(2, 2)
          .nodePauses(2)
          .partitions(2)
          .crashes(2)
          .emptyCrashesWithRest(1)
          .errorSpells(2)
          .clientDeaths(2)
          .closes(1)),
  LONG_HOLDS_IN_SLEEP(
      "clients' machines sleep while locks are held for long",
      new Rates().drift(1_000).sleeps(12).longestTtl(8_000).holds(12_000, 500)),
  DISTANT(
      "nodes are far away, and all of them stand still twice a second, for up to 120 ms: slow, but"
          + " no fault",
      new Rates().undisturbed().distant(28_000, 110).longestTtl(8_000).holds(1_000, 1_500)),
  LONG_HOLDS(
      "after short work, holdAtLeast keeps locks for up to 15 s, far beyond the longest ttl;"
          + " nodes lose data, and vote again in the middle of a hold; messages stall, connections"
          + " break",
      new Rates()
          .lasts(20)
          .guarded(4)
          .longestTtl(1_000)
          .oneName()
          .longHolds(500)
          .holds(400, 300)
          .stalls(10, 300)
          .breaks(10)),
  TRANSFERS(
      "most leases are transferred, and most texts are delivered more than once, also at the same"
          + " time and too late; messages stall, connections break, processes stand still, clients'"
          + " wall clocks are set",
      new Rates()
          .transfers(700)
          .holds(300, 1_000)
          .stalls(60, 600)
          .breaks(30)
          .clientPauses(6, 8)
          .nodePauses(2)
          .wallSteps(2)),
  GUARDED_TRANSFERS(
      "the same, and nodes lose data; client processes die and come back; clients' wall clocks are"
          + " up to 8 s apart, and set by as much",
      new Rates()
          .transfers(700)
          .guarded(6)
          .longestTtl(2_000)
          .oneName()
          .holds(3_000, 600)
          .stalls(30, 500)
          .breaks(20)
          .clientDeaths(2)
          .wallSteps(4)
          .clocksApart(8_000));

  private final String about;

  @SuppressWarnings("ImmutableEnumChecker") // changed while it is made only
  private final Rates rates;

  Profile(String about, Rates rates) {
    this.about = about;
    this.rates = rates;
  }

  static Profile of(String label) {
    return Arrays.stream(values())
        .filter(profile -> profile.label().equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "there is no profile '"
                        + label
                        + "': give one of "
                        + Arrays.stream(values()).map(Profile::label).toList()));
  }

  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  String about() {
    return about;
  }

  Rates rates() {
    return rates;
  }

  /**
   * Returns whether an invariant is checked in this profile. Exclusion is checked in all, but not
   * for a pair of leases between which enough nodes lost their data: see {@link Judge}.
   */
  boolean asks(Invariant invariant) {
    return switch (invariant) {
      case UNDISTURBED -> rates.undisturbed;
      // a command that is sent again can put a key back after its release, and keep others out
      case NO_ORPHANS -> this != BAD_DRIVER;
      case LIVENESS -> this != BAD_DRIVER;
      case HOLD_KEPT -> rates.longHoldsPerMille > 0;
      default -> true;
    };
  }
}
