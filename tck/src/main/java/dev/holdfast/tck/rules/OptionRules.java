package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Locks with options that are no default, in another database, and for users with fewer rights. */
public abstract class OptionRules {
  /** Rounded to seconds in any way, each differs by much. */
  private static final List<Duration> ODD =
      List.of(
          Duration.ofMillis(1_250),
          Duration.ofMillis(1_999),
          Duration.ofMillis(2_501),
          Duration.ofMillis(57_750));

  /** Error of clocks that tick in milliseconds. */
  private static final Duration TICK = Duration.ofMillis(3);

  /** The time that nodes and machine may take, less than times are rounded by. */
  private static final Duration SLACK = Duration.ofMillis(400);

  /** More than a server has, by default 16. */
  private static final int NO_DATABASE = 99_999;

  private static final Duration CONTENTION = Duration.ofMillis(900);

  final TckFixture fixture;

  public OptionRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("VAL-7")
  @IfThisFails("check the commands that are sent with these options: times are milliseconds")
  void timesAreKeptToTheMillisecondWithEveryOptionSet() {
    Needs.nodes(fixture, 1);
    for (Map<String, String> options : needsOptionSets()) {
      LockManager locks = fixture.open(WithoutScripts.texts(options));
      for (Duration ttl : ODD) {
        Lease lease = assertKept(options, ttl, () -> take(locks, ttl));
        if (fixture.declares(LockCapability.EXTENSION)) {
          Duration longer = ttl.plusMillis(1_500);
          assertKept(
              options,
              longer,
              () -> {
                lease.extend(longer);
                return lease;
              });
        }
        Attempts.release(fixture, lease);
        if (fixture.declares(LockCapability.HOLD_AT_LEAST) && ttl.compareTo(fixture.ttl()) < 0) {
          assertKept(
              options,
              ttl,
              () -> {
                LockRequest request = fixture.request(fixture.name("kept")).holdAtLeast(ttl);
                Lease kept = OnNodes.take(fixture, locks, request);
                TckFixture.regardless(kept::release);
                return kept;
              });
        }
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("VAL-1")
  @IfThisFails("check that the option drift is handed on, and taken off grants and extensions")
  void aLargerDriftMakesTheValidityShorter() {
    Needs.nodes(fixture, 2);
    LockManager locks = Needs.option(fixture, "drift", "30%");
    Duration ttl = fixture.ttl();
    Duration longest = ttl.multipliedBy(7).dividedBy(10);

    Lease lease = fixture.take(locks, fixture.name("drifting"), ttl);

    assertThat(lease.remaining()).as("a grant of %s", ttl).isLessThanOrEqualTo(longest);
    if (fixture.declares(LockCapability.EXTENSION)) {
      TckFixture.regardless(() -> lease.extend(ttl.multipliedBy(2)));
      assertThat(lease.remaining())
          .as("an extension by %s", ttl.multipliedBy(2))
          .isLessThanOrEqualTo(longest.multipliedBy(2));
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-1")
  @IfThisFails("check that managers with different options use the same keys in the same way")
  void managersWithDifferentOptionsExcludeEachOther() throws InterruptedException {
    LockManager plain = fixture.open();
    for (Map<String, String> options : needsOptionSets()) {
      LockManager other = fixture.open(WithoutScripts.texts(options));
      for (int i = 0; i < 10; i++) {
        LockManager holder = i % 2 == 0 ? plain : other;
        LockManager contender = i % 2 == 0 ? other : plain;
        Lease lease = fixture.take(holder, fixture.name("held"), fixture.ttl());
        assertThat(fixture.gets(contender, lease.name()))
            .as("granted to a manager with other options than the holder's: %s", options)
            .isFalse();
        TckFixture.regardless(lease::release);
        Attempts.awaitFree(fixture, lease.name());
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-12")
  @IfThisFails("check that managers with these options declare no fencing token, or share counters")
  void fencingTokensIncreaseWithEveryOptionSet() {
    Needs.of(fixture, LockCapability.FENCING_TOKEN);
    LockManager plain = fixture.open();
    for (Map<String, String> options : needsOptionSets()) {
      LockManager older = fixture.open(WithoutScripts.texts(options));
      LockManager later = fixture.open(WithoutScripts.texts(options));
      assertTokensIncrease(
          options,
          Stream.of(older, later, plain, older, plain, later)
              .filter(locks -> locks.capabilities().contains(LockCapability.FENCING_TOKEN)));
    }
  }

  private void assertTokensIncrease(Map<String, String> options, Stream<LockManager> managers) {
    String name = fixture.name("fenced");
    List<Long> tokens = new ArrayList<>();
    managers.forEach(
        locks -> {
          try (Lease lease = OnNodes.take(fixture, locks, name, fixture.ttl())) {
            assertThat(lease.fencingToken()).as("a token that is declared").isPresent();
            tokens.add(lease.fencingToken().getAsLong());
          }
        });
    assertThat(tokens)
        .as("the tokens of one name, with %s", options)
        .isSorted()
        .doesNotHaveDuplicates();
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check how a refusal is read from the reply to the commands of these options")
  void contentionIsNoOutageWithAnySetOfOptions() {
    for (Map<String, String> options : needsOptionSets()) {
      LockManager other = fixture.open(WithoutScripts.texts(options));
      Lease lease = OnNodes.take(fixture, fixture.open(), fixture.name("held"), fixture.ttl());
      Retries.anyOf(
          () ->
              assertThat(other.tryAcquire(lease.name(), fixture.ttl()))
                  .as("the answer to a request for a lock that is held, with %s", options)
                  .isEmpty());
    }
  }

  @Test
  @Rule("DISC-5")
  @IfThisFails(
      "check that options that a program gives are neither decoded, as those of a URL are, nor stripped")
  void valuesOfOptionsAreTakenAsTheyAre() {
    needsKeysWithPrefix();
    String value = " 100%25 a+b%: &?#=, ";
    LockManager locks = fixture.open("keyPrefix=" + value, "owner=" + value);

    String name = fixture.name("prefixed");
    fixture.take(locks, name, fixture.ttl());

    fixture
        .soon()
        .until(
            "nodes have the key " + value + name,
            () -> fixture.nodes().stream().anyMatch(node -> node.holder(value + name).isPresent()));
    if (fixture.declares(LockCapability.INSPECTION)) {
      assertThat(locks.inspect(name).map(LockStatus::ownerLabel)).contains(value);
    }
  }

  /** Leaves the test out where the nodes are not looked at by prefix and name. */
  private void needsKeysWithPrefix() {
    Needs.nodes(fixture, 1);
    String prefix = "tck:";
    LockManager prefixed = Needs.option(fixture, "keyPrefix", prefix);
    Lease probe = fixture.take(prefixed, fixture.name("probe"), fixture.ttl());
    if (!Attempts.comes(() -> !OnNodes.isFree(fixture.nodes(), prefix + probe.name()))) {
      abort("this environment's nodes show no keys with another prefix");
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-6")
  @IfThisFails("check that each connection is greeted alike: the first, and those made again")
  void aDatabaseIsTheSameAfterAReconnect() throws InterruptedException {
    Needs.of(fixture, TckFault.CUT);
    List<String> uris = needsOtherDatabases();
    LockManager outside = fixture.open();
    LockManager holder = fixture.openOn(uris);
    LockManager contender = fixture.openOn(uris);
    Lease lease = fixture.take(holder, fixture.name("held"), fixture.ttl());
    assertThat(fixture.gets(contender, lease.name())).as("got by two").isFalse();
    assertThat(fixture.gets(outside, lease.name())).as("a database is a space of its own").isTrue();
    String ofOutside = fixture.name("outside");
    fixture.take(outside, ofOutside, fixture.ttl());

    for (int cut = 0; cut < 2; cut++) {
      Faults.begin(fixture, TckFault.CUT, fixture.nodes(), lease.name());
      for (LockManager locks : List.of(contender, holder, outside)) {
        Attempts.untilGotAgain(fixture, locks, fixture.name("again"));
      }
      Attempts.stays(() -> true); // the other nodes are connected, too

      assertThat(fixture.gets(contender, lease.name()))
          .as("granted to another owner after the connections ended")
          .isFalse();
      assertThat(fixture.gets(contender, ofOutside + cut)).as("a free lock").isTrue();
    }
    assertThat(fixture.gets(contender, ofOutside))
        .as("the holder in the first database blocks no client here")
        .isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-6")
  @IfThisFails("check the reply to SELECT: without its database a connection is no connection")
  void noLockIsGrantedInADatabaseThatIsNotThere() throws InterruptedException {
    List<String> uris = new ArrayList<>(needsOtherDatabases());
    uris.replaceAll(OptionRules::withoutDatabase);
    String name = fixture.name("nowhere");

    boolean isGranted = false;
    try {
      isGranted = fixture.gets(fixture.openOn(uris), name);
    } catch (LockException refused) {
      IgnoredFailures.add(refused);
    }

    assertThat(isGranted).as("a lock in a database that is not there was granted").isFalse();
    assertThat(OnNodes.isFree(fixture.nodes(), name)).as("free in the first database").isTrue();
  }

  @Test
  @Rule("OPEN-6")
  @IfThisFails("check that managers share no login, whatever servers and users they have in common")
  void eachManagerLogsInByItsOwnUserAndPassword() throws InterruptedException {
    Needs.of(fixture, TckFault.CUT);
    List<String> uris = OnNodes.urisWithLogin(fixture);
    LockManager right = fixture.openOn(uris);
    fixture.take(right, fixture.name("right"), fixture.ttl());
    for (String login : List.of("$1:wrong", "$1:$2x", "nobody:$2")) {
      List<String> wrong =
          uris.stream().map(uri -> uri.replaceFirst("(?<=://)([^:@]*):([^@]*)", login)).toList();

      assertThat(isGrantedOn(wrong))
          .as("a lock was granted to a manager with a login by %s", login)
          .isFalse();
    }
    fixture.take(fixture.openOn(uris), fixture.name("right"), fixture.ttl());

    Faults.begin(fixture, TckFault.CUT, fixture.nodes(), "");

    Attempts.awaitVotes(fixture, right, fixture.nodes());
  }

  @Test
  @Rule("OPEN-6")
  @IfThisFails("check that a URI with a password and no user logs in, too")
  void aPasswordWithoutAUserLogsIn() throws InterruptedException {
    Needs.of(fixture, TckFault.LOGIN_NEEDED);
    List<String> uris = OnNodes.urisWithPassword(fixture);
    Faults.begin(fixture, TckFault.LOGIN_NEEDED, fixture.nodes(), "");

    Retries.anyOf(
        () ->
            assertThat(isGrantedOn(uris))
                .as("a lock was granted to a client with the password")
                .isTrue());
    assertThat(isGrantedOn(OnNodes.withAnotherPassword(uris)))
        .as("a lock was granted to a manager with another password")
        .isFalse();
  }

  @Test
  @Rule("OPEN-6")
  @IfThisFails("check that a URI with a user and no password logs in: the password is empty then")
  void aUserWithoutAPasswordLogsIn() throws InterruptedException {
    Needs.of(fixture, TckFault.LOGIN_NEEDED);
    List<String> uris = OnNodes.urisWithUserAlone(fixture);
    Faults.begin(fixture, TckFault.LOGIN_NEEDED, fixture.nodes(), "");

    Retries.anyOf(
        () ->
            assertThat(isGrantedOn(uris))
                .as("a lock was granted to a client whose user needs no password")
                .isTrue());
  }

  /**
   * Returns whether a manager gets a lock: not if it cannot be opened, or logs in without success.
   */
  private boolean isGrantedOn(List<String> uris) throws InterruptedException {
    try (LockManager locks = fixture.openOn(uris)) {
      return fixture.gets(locks, fixture.name("granted"));
    } catch (LockException refused) {
      IgnoredFailures.add(refused);
      return false;
    }
  }

  @Test
  @Rule("OPEN-5")
  @IfThisFails("check that fencing=false opens without EVAL and EVALSHA")
  void aManagerWithoutFencingTokensNeedsNoScripts() {
    Needs.of(fixture, TckFault.NO_SCRIPTS);
    Needs.option(fixture, "fencing", "false", "restartGuard=off").close();
    Faults.begin(fixture, TckFault.NO_SCRIPTS, fixture.nodes(), "");

    LockManager locks = fixture.open("fencing=false", "restartGuard=off");

    assertThat(fixture.take(locks, fixture.name("simple"), fixture.ttl()).release()).isTrue();
  }

  @Test
  @Rule("OPEN-5")
  @IfThisFails("check the second connection to a node, which is for transactions: it is one more")
  void aUserWithoutScriptsLocksExtendsAndReleases() throws InterruptedException {
    Needs.of(fixture, TckFault.NO_SCRIPTS);
    Faults.begin(fixture, TckFault.NO_SCRIPTS, fixture.nodes(), "");
    List<Throwable> thrown = new ArrayList<>(thrownWithoutScripts(fixture.uris()));
    List<String> others = otherDatabases();
    if (thrown.isEmpty() && !others.isEmpty()) {
      thrown.addAll(thrownWithoutScripts(others));
    }
    boolean logsIn = fixture.nodes().stream().allMatch(node -> node.withPassword().isPresent());
    if (thrown.isEmpty() && logsIn && Faults.areKnown(fixture, TckFault.LOGIN_NEEDED)) {
      Faults.begin(fixture, TckFault.LOGIN_NEEDED, fixture.nodes(), "");
      thrown.addAll(thrownWithoutScripts(OnNodes.urisWithPassword(fixture)));
    }

    assertThat(thrown).as("thrown by calls of a user who may run no scripts").isEmpty();
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-6")
  @IfThisFails("check that the second connection to a node, for transactions, is greeted alike")
  void theDatabaseOfAUserWithoutScriptsIsThatOfTheUri() throws InterruptedException {
    Needs.of(fixture, TckFault.NO_SCRIPTS);
    List<String> uris = needsOtherDatabases();
    LockManager withScripts = fixture.openOn(uris);
    Lease before = fixture.take(withScripts, fixture.name("before"), fixture.ttl());
    Faults.begin(fixture, TckFault.NO_SCRIPTS, fixture.nodes(), "");
    LockManager locks = WithoutScripts.opened(fixture, uris);
    Lease lease = fixture.take(locks, fixture.name("held"), fixture.ttl());
    if (fixture.declares(LockCapability.EXTENSION)) {
      TckFixture.regardless(() -> lease.extend(fixture.ttl()));
    }

    assertThat(OnNodes.isFree(fixture.nodes(), lease.name()))
        .as("free in the first database, while it is held in another")
        .isTrue();
    assertThat(fixture.gets(locks, before.name()))
        .as("a lock in this database that another client holds was granted")
        .isFalse();
  }

  /** Returns the exceptions of calls at these nodes. */
  private Queue<Throwable> thrownWithoutScripts(List<String> uris) throws InterruptedException {
    LockManager locks = WithoutScripts.opened(fixture, uris);
    fixture.take(locks, fixture.name("warm"), fixture.ttl()).close();
    Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
    long begun = System.nanoTime();
    try (Workers workers = new Workers()) {
      for (int worker = 0; worker < 8; worker++) {
        Lease held = fixture.take(locks, fixture.name("extended"), fixture.ttl());
        boolean extendsOnly = worker < 3 && fixture.declares(LockCapability.EXTENSION);
        workers.start(
            () -> {
              while (thrown.isEmpty() && Elapsed.since(begun).compareTo(CONTENTION) < 0) {
                (extendsOnly ? extended(held) : used(locks)).ifPresent(thrown::add);
              }
            });
      }
      workers.join();
    }
    return thrown;
  }

  /** Returns the URI of a database in the same server that is not there. */
  static String withoutDatabase(String uri) {
    return uri.replaceFirst("/\\d+$", "/" + NO_DATABASE);
  }

  private List<String> needsOtherDatabases() {
    List<String> uris = otherDatabases();
    return uris.isEmpty() ? abort("this environment's nodes have no databases") : uris;
  }

  /** Returns the nodes' addresses with another database, or none if a node has only one. */
  private List<String> otherDatabases() {
    return fixture.nodes().stream().allMatch(node -> node.otherDatabase().isPresent())
        ? fixture.nodes().stream().map(node -> node.otherDatabase().orElseThrow()).toList()
        : List.of();
  }

  private Optional<Throwable> extended(Lease lease) {
    try {
      lease.extend(fixture.ttl());
      return Optional.empty();
    } catch (LockException e) {
      return Optional.of(e);
    }
  }

  private Optional<Throwable> used(LockManager locks) throws InterruptedException {
    try {
      Optional<Lease> lease = locks.tryAcquire(fixture.name("used"), fixture.ttl());
      return lease.filter(Lease::release).isPresent()
          ? Optional.empty()
          : Optional.of(new AssertionError("a free lock was refused, or not released"));
    } catch (LockException e) {
      return Optional.of(e);
    }
  }

  private List<Map<String, String>> needsOptionSets() {
    List<Map<String, String>> sets = fixture.environment().optionSets();
    if (sets.isEmpty()) {
      abort("this environment has no sets of options");
    }
    return sets;
  }

  private Lease take(LockManager locks, Duration ttl) {
    return OnNodes.take(fixture, locks, fixture.name("odd"), ttl);
  }

  private interface Step {
    Lease done();
  }

  /** Checks that nodes keep a lock for so long after a step, neither more nor less. */
  private Lease assertKept(Map<String, String> options, Duration time, Step step) {
    Lease[] lease = new Lease[1];
    Retries.anyOf(
        () -> {
          long begun = System.nanoTime();
          lease[0] = step.done();
          for (TckNode node : fixture.nodes()) {
            fixture
                .soon()
                .untilAsserted(
                    () -> {
                      Duration elapsed = Elapsed.since(begun);
                      Duration left = node.timeToLive(lease[0].name());
                      assertThat(left.plus(elapsed))
                          .as("the time that %s keeps a lock, with %s", node.address(), options)
                          .isBetween(time.minus(TICK), time.plus(SLACK));
                    });
          }
        });
    return lease[0];
  }
}
