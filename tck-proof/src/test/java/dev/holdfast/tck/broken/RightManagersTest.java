package dev.holdfast.tck.broken;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.env.TckTiming;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Right managers pass, or failures would say nothing. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@Execution(ExecutionMode.SAME_THREAD) // its runs are a crowd already
class RightManagersTest {
  /** Tests of one run, or runs: they wait for most of their time. */
  private static final int AT_A_TIME = 8;

  private final ExecutorService runs = Executors.newFixedThreadPool(AT_A_TIME);

  @AfterEach
  void end() {
    runs.shutdownNow();
  }

  @Test
  @Tag("soak") // in each build the drivers' managers pass on real servers
  void redlockOverFakeNodesPasses() {
    KitRun run = KitRun.of(() -> new FakeEnvironment(Parts.TRANSFERRING), AT_A_TIME);

    assertThat(run.failures()).isEmpty();
    assertThat(run.passed()).hasSizeGreaterThan(200);
    assertThat(run.reasonsToSkip())
        .as("no test is left out for another reason than what these managers are")
        .isSubsetOf(
            "this environment's managers have no URL",
            "not declared: FENCING_TOKEN",
            "a declared capability is not refused",
            "the nodes themselves show it",
            "this environment's nodes cannot be NO_SCRIPTS",
            "this environment's nodes cannot be LOGIN_NEEDED",
            "this environment's nodes cannot be NO_SUBSCRIPTIONS",
            "this environment's nodes cannot be LEAST_RIGHTS",
            "there is no user to log in as",
            "this environment's nodes do not count subscriptions",
            "these managers do not notify waiters of releases by others, which is allowed",
            "this environment's nodes have no databases",
            "this environment's nodes are not given by redis://",
            "this environment has no sets of options",
            "this backend shows its nodes as one",
            "this backend has no drift",
            "this backend has no keyPrefix",
            "this backend has no restartGuard",
            "before JDK 21");
  }

  @Test
  @Tag("soak")
  void managersWithLessPassToo() throws Exception {
    Map<String, Future<KitRun>> begun = new LinkedHashMap<>();
    lesser()
        .forEach((what, managers) -> begun.put(what, runs.submit(() -> KitRun.of(managers, 1))));

    for (Map.Entry<String, Future<KitRun>> entry : begun.entrySet()) {
      KitRun run = entry.getValue().get();
      assertThat(run.failures()).as(entry.getKey()).isEmpty();
      assertThat(run.passed()).as(entry.getKey()).hasSizeGreaterThan(100);
    }
  }

  private static Map<String, Supplier<TckEnvironment>> lesser() {
    Map<String, Supplier<TckEnvironment>> right = new LinkedHashMap<>();
    right.put("no TRANSFER", () -> new FakeEnvironment(Parts.RIGHT));
    right.put("one node", () -> new FakeEnvironment(1, Parts.TRANSFERRING));
    right.put("two nodes", () -> new FakeEnvironment(2, Parts.RIGHT));
    right.put("three nodes, and times in milliseconds", () -> of(InMillis::new));
    right.put("no nodes that can be seen", () -> new Hidden(new FakeEnvironment(3, Parts.RIGHT)));
    for (Set<LockCapability> missing :
        List.of(
            Set.of(LockCapability.EXTENSION),
            Set.of(
                LockCapability.KEEP_ALIVE,
                LockCapability.INSPECTION,
                LockCapability.FIFO_IN_PROCESS),
            Set.of(
                LockCapability.HOLD_AT_LEAST,
                LockCapability.FORCE_RELEASE,
                LockCapability.OWNER_SAFE_RELEASE,
                LockCapability.FAULT_TOLERANT))) {
      right.put(
          "no " + new TreeSet<>(missing), () -> of(manager -> new Undeclaring(manager, missing)));
    }
    return right;
  }

  private static TckEnvironment of(UnaryOperator<LockManager> manager) {
    return new FakeEnvironment(3, Parts.RIGHT.withManagers(right -> manager.apply(right.get())));
  }

  /** Tells whole milliseconds of what remains of a lease, which is never too much. */
  private static final class InMillis extends PassingManager {
    InMillis(LockManager right) {
      super(right);
    }

    @Override
    Lease lease(Lease granted) {
      return new PassingLease(granted) {
        @Override
        public Duration remaining() {
          return super.remaining().truncatedTo(ChronoUnit.MILLIS);
        }
      };
    }
  }

  /** Nothing is known of where locks are kept. */
  private record Hidden(FakeEnvironment seen) implements TckEnvironment {
    @Override
    public LockManager open(Map<String, String> options) {
      return seen.open(options);
    }

    @Override
    public boolean hasNodeOptions() {
      return true;
    }

    @Override
    public TckTiming timing() {
      return seen.timing();
    }

    @Override
    public void reset() {
      seen.reset();
    }

    @Override
    public void close() {
      seen.close();
    }
  }
}
