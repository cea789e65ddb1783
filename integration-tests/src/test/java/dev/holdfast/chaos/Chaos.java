package dev.holdfast.chaos;

import dev.holdfast.it.ClockShim;
import dev.holdfast.testsupport.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * One run: clients at work on nodes, and round after round of faults, each healed and recovered
 * from before the next.
 *
 * @param options of the managers, beyond {@link Settings}, each with an ampersand before it
 */
record Chaos(
    String driver,
    int nodes,
    long seed,
    Duration length,
    Collection<NodeFault> nodeFaults,
    Collection<ClientFault> clientFaults,
    String options) {
  static final List<String> DRIVERS = List.of("jedis", "lettuce", "redisson");

  private static final int CLIENTS = 3;

  /** The lost time of this process, which the machine treats as it treats clients. */
  private static final LostTime LOST_TIME = LostTime.watched();

  /** Longer than any recovery that would pass. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final Duration LOOK = Duration.ofMillis(50);

  /** At the end, when the time of all that was left behind is over. */
  private static final Duration CALM = Duration.ofSeconds(5);

  /** Returns a run with all faults that this machine allows. */
  static Chaos of(String driver, int nodes, long seed, Duration length) {
    boolean shim = ClockShim.given().isPresent();
    return new Chaos(
        driver,
        nodes,
        seed,
        length,
        Arrays.stream(NodeFault.values()).filter(fault -> shim || !fault.needsShim()).toList(),
        Arrays.stream(ClientFault.values()).filter(fault -> shim || !fault.needsShim()).toList(),
        "");
  }

  /**
   * Runs.
   *
   * @param folder where all is kept that was written down
   */
  Verdict run(Path folder) throws Exception {
    Path path = folder.resolve("journal");
    try (Journal journal = Journal.at(path);
        World world = new World(nodes, folder);
        Fleet fleet = new Fleet(CLIENTS, number -> client(number, folder, path, world))) {
      try (Journal.Reader reader = new Journal.Reader(path)) {
        awaitGrants(reader, new Quarantines(world.nodes()));
        world.watch(journal);
        Schedule schedule = new Schedule(seed, nodes, nodeFaults, clientFaults);
        Random random = new Random(seed);
        long end = System.nanoTime() + length.toNanos();
        while (System.nanoTime() - end < 0) {
          round(schedule.next(), world, fleet, random, journal, reader);
          fleet.all().forEach(ClientProcess::requireAlive);
        }
      }
      Lapse.of(CALM);
      fleet.end();
      Lapse.of(Orphans.SOON);
      world.endWatch();
    }
    return judged(path);
  }

  static Verdict judged(Path journal) {
    Judge judge = new Judge();
    try (Journal.Reader reader = new Journal.Reader(journal)) {
      reader.read(line -> judge.hear(Entry.parse(line)));
    }
    return judge.verdict();
  }

  /** Starts the client with this number. */
  ClientProcess client(int number, Path folder, Path journal, World world) {
    return ClientProcess.start(
        "client-" + number,
        folder,
        journal,
        Settings.url(driver, world.uris(), options),
        seed + number,
        ClockShim.given());
  }

  private static void round(
      Schedule.Round round,
      World world,
      Fleet fleet,
      Random random,
      Journal journal,
      Journal.Reader reader)
      throws Exception {
    List<Healing> healings = new ArrayList<>();
    try {
      for (Map.Entry<NodeFault, List<Integer>> fault : round.nodes().entrySet()) {
        journal.append(began(fault.getKey(), fault.getValue().toString()));
        for (int node : fault.getValue()) {
          healings.add(fault.getKey().begin(world.victim(node, random)));
        }
      }
      if (round.client().isPresent()) {
        journal.append(began(round.client().get(), "clients"));
        healings.add(round.client().get().begin(fleet, random));
      }
      Lapse.of(round.lasting());
    } finally {
      for (Healing healing : healings) {
        healing.heal();
      }
    }
    fleet.awaitReady();
    reader.read(line -> {});
    long lostBefore = LOST_TIME.nanos();
    Quarantines quarantines = new Quarantines(world.nodes());
    journal.append(new Entry.Healed(System.nanoTime()));
    awaitGrants(reader, quarantines);
    journal.append(new Entry.Voting(quarantines.quorumVotesFrom(), LOST_TIME.nanos() - lostBefore));
  }

  private static Entry.Began began(Enum<?> fault, String victims) {
    return new Entry.Began(fault.name(), victims, System.nanoTime());
  }

  /** Until each lock has been acquired again, or for long enough. */
  private static void awaitGrants(Journal.Reader reader, Quarantines quarantines) {
    Set<String> names = new HashSet<>(Settings.NAMES);
    long begun = System.nanoTime();
    Eventually.within(PATIENCE.multipliedBy(2))
        .pollInterval(LOOK)
        .until(
            () -> {
              quarantines.look();
              reader.read(
                  line -> {
                    if (line.startsWith("Got\t")) {
                      names.remove(((Entry.Got) Entry.parse(line)).name());
                    }
                  });
              return names.isEmpty() || System.nanoTime() - begun >= PATIENCE.toNanos();
            });
  }

  /** A new folder that outlives the run, for the one who has to find out why it failed. */
  static Path folder(String name) throws IOException {
    Path all = Path.of("target", "chaos").toAbsolutePath();
    return Files.createTempDirectory(Files.createDirectories(all), name + "-");
  }
}
