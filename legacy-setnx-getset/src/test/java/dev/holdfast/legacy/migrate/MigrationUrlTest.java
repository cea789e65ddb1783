package dev.holdfast.legacy.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.ManagerBuilder;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Rule;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code migrate:from|both|to} with two URLs in its options. */
class MigrationUrlTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final String NO_SERVER = "redlock:redis://127.0.0.1:1";

  @Test
  @DisplayName("phase from takes the old lock, to the new one, and both takes both")
  void thePhaseSaysWhichLocksAreTaken() throws InterruptedException {
    assertThat(keptOutBy("from", "phase-a")).containsExactly(true, false);
    assertThat(keptOutBy("both", "phase-b")).containsExactly(true, true);
    assertThat(keptOutBy("to", "phase-c")).containsExactly(false, true);
  }

  @Test
  @DisplayName("the two URLs stand encoded in the URL, or as they are among the options")
  void nestedUrlsAreEncodedInTheUrl() {
    String from = "memory:encoded-a?owner=a&retryDelay=5ms";
    String to = "memory:encoded-b?owner=b";

    LockManager.open("migrate:both?from=" + encoded(from) + "&to=" + encoded(to)).close();
    LockManager.open("migrate:both?from=memory:x&to=memory:y").close();
    LockManager.open("migrate:both", Map.of("from", from, "to", to)).close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"from", "both", "to"})
  @Rule("DISC-5")
  @DisplayName("the callback executor of the builder is that of each phase")
  void eachPhaseUsesTheCallbackExecutor(String phase) throws InterruptedException {
    ExecutorService executor =
        Executors.newSingleThreadExecutor(task -> new Thread(task, "of the user"));
    try (LockManager locks =
        LockManager.builder("migrate:" + phase + "?from=memory:&to=memory:")
            .callbackExecutor(executor)
            .open()) {
      // Held at first, because a callback of a future that is complete runs on this thread.
      Lease held = locks.acquire("name", TTL);
      CompletableFuture<String> thread =
          locks
              .tryAcquireAsync(LockRequest.of("name", TTL).waitForever())
              .thenApply(lease -> Thread.currentThread().getName());
      held.release();

      assertThat(thread).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("of the user");
    } finally {
      executor.shutdownNow();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"from", "both", "to"})
  @Rule("LISTEN-14")
  @DisplayName("a listener of the builder learns of all requests and nodes, once")
  void eachPhaseHasTheListener(String phase) throws InterruptedException {
    Queue<String> events = new ConcurrentLinkedQueue<>();
    LockListener listener =
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            events.add("granted " + name);
          }

          @Override
          public void onNode(String node, LockNode.State state, String cause) {
            events.add(node + " " + state);
          }
        };
    try (TestNodes nodes = TestNodes.start(2)) {
      String from = "redlock:" + nodes.uris().get(0) + "?newNodes=trust";
      String to = "redlock:" + nodes.uris().get(1) + "?newNodes=trust";
      LockManager locks =
          LockManager.builder("migrate:" + phase)
              .options(Map.of("from", from, "to", to))
              .listener(listener)
              .open();
      locks.acquire("a", TTL).close();
      List<String> expected = new ArrayList<>(List.of("granted a"));
      locks.nodes().forEach(node -> expected.add(node.address() + " UP"));
      locks.close(); // reports what was gathered

      assertThat(events).containsExactlyInAnyOrderElementsOf(expected);
      assertThat(expected).hasSize(phase.equals("both") ? 3 : 2);
    }
  }

  @Test
  @Rule("CAP-2")
  @DisplayName("a lease of phase both refuses to be transferred, and stays held")
  void phaseBothRefusesATransfer() throws InterruptedException {
    try (LockManager locks = LockManager.open("migrate:both?from=memory:&to=memory:");
        Lease lease = locks.acquire("a", TTL)) {
      assertThat(locks.capabilities()).doesNotContain(LockCapability.TRANSFER);

      assertThatThrownBy(() -> lease.transfer(TTL))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("TRANSFER");
      assertThatThrownBy(() -> locks.adopt("text", LockRequest.of("a", TTL)))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("TRANSFER");
      assertThat(lease.isHeld()).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "from, from=memory:, memory",
    "to, to=memory:, memory",
    "from, from=setnx:redis://h1, setnx"
  })
  @Rule("DISC-5")
  @DisplayName("the trust managers of the builder are those of each phase, and are refused")
  void eachPhaseRefusesTrustManagersThatItsLockCannotApply(
      String phase, String side, String backend) throws Exception {
    String other = side.startsWith("from") ? "to=memory:x" : "from=memory:x";
    ManagerBuilder builder =
        LockManager.builder("migrate:" + phase + "?" + side + "&" + other)
            .trustManagers(
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm()));

    assertThatThrownBy(builder::open)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageStartingWith("option " + phase)
        .hasMessageContaining("the backend '" + backend + "' takes no trust or key managers");
  }

  @ParameterizedTest
  @ValueSource(strings = {"from", "to"})
  @DisplayName("a phase connects to nothing that it does not use")
  void aPhaseConnectsToNothingThatItDoesNotUse(String phase) throws InterruptedException {
    String other = phase.equals("from") ? "to" : "from";

    try (LockManager locks =
        LockManager.open("migrate:" + phase, Map.of(phase, "memory:", other, NO_SERVER))) {
      assertThat(locks.tryAcquire("name", TTL)).isPresent();
    }
  }

  @Test
  @DisplayName(
      "a phase connects to nothing that it does not use, though a backend on the class path is broken")
  void aBrokenBackendMakesNoPhaseConnect(@TempDir Path folder) throws Exception {
    Path services = Files.createDirectories(folder.resolve("META-INF/services"));
    Files.writeString(services.resolve(LockProvider.class.getName()), "no.such.Backend");
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader broken = new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
      thread.setContextClassLoader(broken);
      aPhaseConnectsToNothingThatItDoesNotUse("from");
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"from", "both", "to"})
  @DisplayName("a mistake in either URL shows in every phase, with the option's name")
  void errorInEitherUrlIsReportedInEveryPhase(String phase) {
    for (String wrong : List.of("memroy:x", "memory:x?=1", "redlock:jedsi:redis://h", "", "x")) {
      for (String option : List.of("from", "to")) {
        Map<String, String> options = new HashMap<>(Map.of("from", "memory:", "to", "memory:"));
        options.put(option, wrong);

        assertThatThrownBy(() -> LockManager.open("migrate:" + phase, options))
            .as("%s=%s", option, wrong)
            .isInstanceOf(LockConfigurationException.class)
            .hasMessageContaining("option " + option);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"from", "to"})
  @DisplayName("an outage names its lock and its nodes")
  void outageNamesItsLockAndNodes(String option) {
    Map<String, String> options = new HashMap<>(Map.of("from", "memory:", "to", "memory:"));
    options.put(option, NO_SERVER);

    LockOutageException outage =
        (LockOutageException) catchThrowable(() -> LockManager.open("migrate:both", options));

    assertThat(outage).hasMessageContainingAll("option " + option, "127.0.0.1:1");
    assertThat(outage.failures()).containsOnlyKeys("127.0.0.1:1");
    assertThat(outage.getSuppressed()).hasAtLeastOneElementOfType(LockOutageException.class);
  }

  @Test
  @DisplayName("old lock is closed if the new one is unreachable")
  void oldLockIsClosedIfTheNewOneIsUnreachable() {
    try (TestNodes nodes = TestNodes.start(1)) {
      String old = "redlock:" + nodes.uris().get(0);

      assertThatThrownBy(
              () -> LockManager.open("migrate:both", Map.of("from", old, "to", NO_SERVER)))
          .isInstanceOf(LockOutageException.class);

      await().until(() -> connections(nodes) == 1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"from", "both", "to"})
  @DisplayName("its own options hold in every phase, unless the two URLs have others")
  void itsOwnOptionsHoldInEveryPhase(String phase) throws InterruptedException {
    String name = "options-" + phase;
    Map<String, String> options =
        Map.of("from", "memory:a-" + name, "to", "memory:b-" + name, "owner", "me", "maxTtl", "9s");
    try (LockManager locks = LockManager.open("migrate:" + phase, options)) {
      assertThat(longestTtl(locks)).isEqualTo(9);
      assertThat(locks.tryAcquire("name", Duration.ofSeconds(9))).isPresent();
      assertThat(locks.inspect("name").orElseThrow().ownerLabel()).isEqualTo("me");
    }

    Map<String, String> others =
        Map.of(
            "from",
            "memory:c-" + name + "?owner=old&maxTtl=5s&retryDelay=5ms",
            "to",
            "memory:d-" + name + "?owner=new&maxTtl=7s",
            "owner",
            "me",
            "maxTtl",
            "9s");
    try (LockManager locks = LockManager.open("migrate:" + phase, others)) {
      assertThat(longestTtl(locks)).isEqualTo(phase.equals("to") ? 7 : 5);
      assertThat(locks.tryAcquire("name", Duration.ofSeconds(5))).isPresent();
      assertThat(locks.inspect("name").orElseThrow().ownerLabel())
          .isEqualTo(phase.equals("from") ? "old" : "new");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "migrate:?from=memory:&to=memory:                           ; names no phase",
        "migrate:bth?from=memory:&to=memory:                        ; names no phase",
        "migrate:both?form=memory:x                                 ; the nearest is from",
        "migrate:both?retryDelay=0ms                                ; '0ms' is out of range",
        "migrate:both?maxTtl=5                                      ; '5' has no unit",
        "migrate:both?from=redlock:redis://h&to=redlock:redis://h   ; another keyPrefix",
        "migrate:from?from=memory:x&to=memory:x                     ; the same as option from",
        "migrate:both?from=memory:x                                 ; no option to",
        "migrate:both?to=memory:x                                   ; no option from"
      })
  @DisplayName("a mistake is an error that shows it, and what is right")
  void aMistakeIsAnError(String url, String error) {
    assertThatThrownBy(() -> LockManager.open(url))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(error);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redlock:redis://user:hunter2@127.0.0.1:1",
        "redlock:redis://:hunter2%40x@127.0.0.1:1,redis://:hunter2@127.0.0.1:2",
        "redlock:redis://user:hunter2@127.0.0.1:1?nodeTimeuot=1s",
        "redlock:redis://user:hunter2@127.0.0.1:x",
        "redlok:redis://user:hunter2@127.0.0.1:1",
        "redlock:redis://user:hunter2/@127.0.0.1:1"
      })
  @DisplayName("no message shows a password")
  void noMessageShowsAPassword(String url) {
    for (String option : List.of("from", "to")) {
      String other = option.equals("from") ? "to" : "from";
      List<Throwable> errors =
          List.of(
              errorOf("migrate:both", Map.of(option, url, other, "memory:")),
              errorOf("migrate:both", Map.of(option, url)),
              errorOf("migrate:both", Map.of(option, url, other, url)),
              errorOf("migrate:nothing", Map.of(option, url, other, "memory:")),
              errorOf(
                  "migrate:both?" + other + "=memory:&" + option + "=" + encoded(url), Map.of()),
              errorOf("migrate:both?" + option + "=" + encoded(url), Map.of()),
              errorOf(
                  "migrate:bth?" + other + "=memory:&" + option + "=" + encoded(url), Map.of()));

      assertThat(errors).allSatisfy(error -> assertThat(error).isInstanceOf(LockException.class));
      assertThat(errors).map(MigrationUrlTest::stackTrace).noneMatch(t -> t.contains("hunter2"));
    }
  }

  private static Throwable errorOf(String url, Map<String, String> options) {
    return catchThrowable(() -> LockManager.open(url, options));
  }

  private static String stackTrace(Throwable error) {
    StringWriter text = new StringWriter();
    error.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  /** Whether those that know the old lock alone, and those that know the new one, are kept out. */
  private static List<Boolean> keptOutBy(String phase, String name) throws InterruptedException {
    String from = "memory:old-" + name;
    String to = "memory:new-" + name;
    try (LockManager oldLocks = LockManager.open(from);
        LockManager newLocks = LockManager.open(to);
        LockManager locks = LockManager.open("migrate:" + phase, Map.of("from", from, "to", to));
        Lease lease = locks.acquire("name", TTL)) {
      assertThat(lease.isHeld()).isTrue();
      return List.of(
          oldLocks.tryAcquire("name", TTL).isEmpty(), newLocks.tryAcquire("name", TTL).isEmpty());
    }
  }

  /** Returns the longest ttl in seconds. */
  private static long longestTtl(LockManager locks) {
    return LongStream.rangeClosed(1, 60)
        .filter(seconds -> mayAsk(locks, Duration.ofSeconds(seconds)))
        .max()
        .orElseThrow();
  }

  private static boolean mayAsk(LockManager locks, Duration ttl) {
    try {
      locks.tryAcquireAsync(LockRequest.of("probe", ttl)).join().ifPresent(Lease::close);
      return true;
    } catch (CompletionException e) {
      assertThat(e).hasCauseInstanceOf(LockConfigurationException.class);
      return false;
    }
  }

  /** The one that asks included. */
  private static long connections(TestNodes nodes) {
    return String.valueOf(nodes.node(0).command("CLIENT", "LIST")).lines().count();
  }

  private static String encoded(String url) {
    return URLEncoder.encode(url, StandardCharsets.UTF_8);
  }
}
