package dev.holdfast.simulation;

import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** The command: runs seeds, or replays one of them. */
public final class Simulate {
  private static final Set<String> KNOWN =
      Set.of("seeds", "from", "threads", "profile", "mutant", "replay", "root");

  /** So many runs are in flight before their results are printed. */
  private static final long BLOCK = 1_000;

  private static final int MAX_BROKEN = 10;

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final PrintStream out;

  private Simulate(PrintStream out) {
    this.out = out;
  }

  /**
   * Runs the command and ends this JVM.
   *
   * @param arguments see {@code simulation/simulate --help}
   */
  public static void main(String[] arguments) {
    System.exit(run(System.out, arguments));
  }

  /** Returns 0 if all invariants held, 1 if one was broken, 64 for wrong arguments. */
  static int run(PrintStream out, String... arguments) {
    Simulate simulate = new Simulate(out);
    try {
      Map<String, String> options = options(arguments);
      String mutant = options.get("mutant");
      return mutant == null ? simulate.run(options) : simulate.runMutant(Flaw.of(mutant), options);
    } catch (IllegalArgumentException e) {
      out.println("simulate: " + e.getMessage());
      return 64;
    }
  }

  /**
   * Returns the first seed that breaks this invariant, whatever else it breaks, or -1 if there is
   * none.
   */
  static long firstBroken(String profile, String invariant, long from, long seeds) {
    for (long seed = from; seed < from + seeds; seed++) {
      Invariant only = Invariant.valueOf(invariant);
      if (Run.of(seed, Profile.of(profile), new Trace(null), only).violation() != null) {
        return seed;
      }
    }
    return -1;
  }

  /** Returns the same for a mutant, in the profile and by the invariant that it names. */
  static long firstBroken(Flaw mutant, Path root, long from, long seeds) {
    Object found =
        call(
            mutant,
            root,
            "firstBroken",
            new Class<?>[] {String.class, String.class, long.class, long.class},
            mutant.profile().label(),
            mutant.breaks().name(),
            from,
            seeds);
    return (Long) Objects.requireNonNull(found);
  }

  /** Calls a method of this class as the mutant's loader has it. */
  private static @Nullable Object call(
      Flaw mutant, Path root, String name, Class<?>[] types, Object... arguments) {
    try {
      Method method =
          MutantLoader.load(mutant, root)
              .loadClass(Simulate.class.getName())
              .getDeclaredMethod(name, types);
      method.setAccessible(true);
      return method.invoke(null, arguments);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(mutant.label() + " does not run", e);
    }
  }

  private int runMutant(Flaw mutant, Map<String, String> options) {
    Map<String, String> of = new HashMap<>(options);
    of.remove("mutant");
    of.putIfAbsent("profile", mutant.profile().label());
    String[] arguments =
        of.entrySet().stream()
            .flatMap(e -> List.of("--" + e.getKey(), e.getValue()).stream())
            .toArray(String[]::new);
    out.println(mutant.label() + ": " + mutant.about());
    Path root = Path.of(options.getOrDefault("root", "."));
    Object status =
        call(
            mutant,
            root,
            "run",
            new Class<?>[] {PrintStream.class, String[].class},
            out,
            arguments);
    return (Integer) Objects.requireNonNull(status);
  }

  private int run(Map<String, String> options) {
    String chosen = options.get("profile");
    Profile[] profiles = chosen == null ? Profile.values() : new Profile[] {Profile.of(chosen)};
    if (options.containsKey("replay")) {
      return replay(number(options, "replay", 0), profiles);
    }
    long from = number(options, "from", 1);
    long seeds = number(options, "seeds", 1_000);
    ExecutorService pool = Executors.newFixedThreadPool(threads(options));
    try {
      return runSeeds(pool, from, seeds, profiles);
    } finally {
      pool.shutdownNow();
    }
  }

  private static int threads(Map<String, String> options) {
    long threads = number(options, "threads", 1);
    if (threads < 1 || threads > 1_000) {
      throw new IllegalArgumentException("--threads takes 1 to 1000, not " + threads);
    }
    return (int) threads;
  }

  private int replay(long seed, Profile... profiles) {
    Profile profile = profileOf(seed, profiles);
    Run.Result result = Run.of(seed, profile, new Trace(out), null);
    out.println(summary(result));
    return result.violation() == null ? 0 : 1;
  }

  /** Prints results in the order of seeds, whichever thread ran them. */
  private int runSeeds(ExecutorService pool, long from, long seeds, Profile... profiles) {
    Totals totals = new Totals();
    long end = from + seeds;
    for (long next = from; next < end && totals.broken < MAX_BROKEN; next += BLOCK) {
      List<Callable<Timed>> block =
          LongStream.range(next, Math.min(end, next + BLOCK))
              .mapToObj(seed -> (Callable<Timed>) () -> timed(seed, profiles))
              .toList();
      for (Timed timed : all(pool, block)) {
        if (totals.broken < MAX_BROKEN) {
          totals.add(timed);
          if (timed.result().violation() != null) {
            out.println(summary(timed.result()));
          }
        }
      }
    }
    out.printf(
        Locale.ROOT,
        "%d seeds from %d, %d grants, %d second trips, %.0f runs a second of one core,"
            + " %d overlaps and %d smaller tokens after lost data, %d broken%n",
        totals.done,
        from,
        totals.grants,
        totals.secondTrips,
        totals.done * 1e9 / totals.nanos,
        totals.excused,
        totals.regressions,
        totals.broken);
    return totals.broken == 0 ? 0 : 1;
  }

  private static List<Timed> all(ExecutorService pool, List<Callable<Timed>> block) {
    try {
      List<Timed> results = new ArrayList<>();
      for (Future<Timed> result : pool.invokeAll(block)) {
        results.add(result.get());
      }
      return results;
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException("the simulator failed", e);
    }
  }

  private static Timed timed(long seed, Profile... profiles) {
    long begun = THREADS.getCurrentThreadCpuTime();
    Run.Result result = Run.of(seed, profileOf(seed, profiles));
    return new Timed(result, THREADS.getCurrentThreadCpuTime() - begun);
  }

  /** The result of a seed, and the time of a core that it took. */
  private record Timed(Run.Result result, long nanos) {}

  private static final class Totals {
    private long done;
    private long nanos;
    private long grants;
    private long excused;
    private long secondTrips;
    private long regressions;
    private int broken;

    void add(Timed timed) {
      Run.Result result = timed.result();
      done++;
      nanos += timed.nanos();
      grants += result.grants();
      excused += result.excused();
      secondTrips += result.secondTrips();
      regressions += result.regressions();
      broken += result.violation() == null ? 0 : 1;
    }
  }

  /** Returns the profile of a seed. With several profiles the seed chooses. */
  static Profile profileOf(long seed, Profile... profiles) {
    return profiles[(int) Math.floorMod(seed, (long) profiles.length)];
  }

  private static String summary(Run.Result result) {
    Judge.Violation violation = result.violation();
    String what =
        violation == null
            ? "all invariants held"
            : "BROKEN " + violation.invariant().label() + ": " + violation.what();
    return String.format(
        Locale.ROOT,
        "seed %d, profile %s: %s (%d grants, trace %016x)",
        result.seed(),
        result.profile().label(),
        what,
        result.grants(),
        result.hash());
  }

  private static Map<String, String> options(String... arguments) {
    Map<String, String> options = new HashMap<>();
    for (int i = 0; i < arguments.length; i += 2) {
      String name = arguments[i].startsWith("--") ? arguments[i].substring(2) : "";
      if (!KNOWN.contains(name) || i + 1 == arguments.length) {
        throw new IllegalArgumentException(
            "'" + arguments[i] + "' is not understood: see simulate --help");
      }
      options.put(name, arguments[i + 1]);
    }
    return options;
  }

  private static long number(Map<String, String> options, String name, long otherwise) {
    String text = options.get(name);
    return text == null ? otherwise : Long.parseLong(text);
  }
}
