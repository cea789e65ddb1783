package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The lines of docs/acl.md: a user needs all of these rights, and no other. */
@ParameterizedClass(name = "{0}")
@MethodSource("drivers")
class LeastRightsTest {
  private static final Path DOCUMENT = Path.of("../docs/acl.md");
  private static final String PREFIX = "lock:";

  /** Sent whether or not they are allowed, to find out. The document has the list. */
  private static final List<String> PROBES = List.of("eval", "delex", "delifeq");

  /** For a connection that listens to be made, if the machine lets it. */
  private static final Duration A_WHILE = Duration.ofMillis(150);

  private final Backend backend;
  private final Cluster cluster;

  LeastRightsTest(Backend backend) {
    this.backend = backend;
    this.cluster = Cluster.of(backend, 3);
  }

  static Stream<Backend> drivers() {
    return Backend.named().stream().filter(Backend::runsScripts);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @TestFactory
  @Tag("exclusion")
  @Rule({"OPEN-5", "OPEN-8", "REL-1", "EXT-1"})
  List<DynamicTest> eachLineIsEnough() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    for (List<String> line : lines()) {
      tests.add(
          dynamicTest(
              String.join(" ", line),
              () -> {
                assertThat(refused(line, line)).isSubsetOf(isScriptless(line) ? PROBES : List.of());
              }));
    }
    return tests;
  }

  @TestFactory
  List<DynamicTest> noRightCanBeLeftOut() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    for (List<String> line : lines()) {
      for (String right : line.stream().filter(this::isNeeded).toList()) {
        List<String> without = new ArrayList<>(line);
        without.remove(right);
        tests.add(
            dynamicTest(
                right + " of " + String.join(" ", line),
                () ->
                    Eventually.soon()
                        .untilAsserted(
                            () -> assertThat(refused(without, line)).contains(commandOf(right)))));
      }
    }
    return tests;
  }

  @Test
  @Rule({"OPEN-5", "ACQ-1"})
  void aUserWhoMayRunScriptsAndOneWhoMayNotShareTheLocks() throws Exception {
    List<List<String>> lines = lines();
    List<LockManager> both = new ArrayList<>();
    for (List<String> line : List.of(lines.get(0), lines.get(1))) {
      String user = isScriptless(line) ? "scriptless-one" : "scripting-one";
      cluster.nodes().forEach(node -> allow(node, user, line));
      both.add(open(user, "", isScriptless(line)));
    }
    for (int i = 0; i < 20; i++) {
      LockManager holder = both.get(i % 2);
      LockManager other = both.get(1 - i % 2);
      try (Lease lease = holder.acquire("shared", Cluster.TTL)) {
        assertThat(other.tryAcquire("shared", Cluster.TTL)).isEmpty();
        lease.extend(Cluster.TTL);
        lease.requireHeld();
      }
    }
    cluster.awaitNoLocks();
  }

  /** Does all that a line is for with some rights, and says which commands the servers refused. */
  private List<String> refused(List<String> rights, List<String> line) {
    String database = line.contains("+select") ? "/1" : "";
    for (TestNode node : cluster.nodes()) {
      allow(node, "locks", rights);
      node.command("SCRIPT", "FLUSH");
      node.command("FLUSHALL");
      node.vouch(database.isEmpty() ? 0 : 1);
      node.command("ACL", "LOG", "RESET");
    }
    try (LockManager locks = open("locks", database, isScriptless(line))) {
      useAll(locks, line.contains("+type"));
    } catch (RuntimeException | InterruptedException | AssertionError e) {
      assertThat(deniedOnAll()).as("why else: %s", e).isNotEmpty();
    }
    return deniedOnAll();
  }

  private static void useAll(LockManager locks, boolean asOperator) throws InterruptedException {
    LockRequest request = LockRequest.of("job", Cluster.TTL);
    Lease lease = locks.tryAcquire(request).orElseThrow();
    assertThat(locks.tryAcquire(request.waitAtMost(A_WHILE))).isEmpty();
    lease.extend(Cluster.TTL.plus(Cluster.TTL.dividedBy(2)));
    lease.release();
    if (asOperator) {
      assertThat(locks.tryAcquire(request)).isPresent();
      assertThat(locks.inspect("job")).isPresent();
      assertThat(locks.forceRelease("job")).isTrue();
    }
    LockRequest brief = LockRequest.of("short", Cluster.TTL).holdAtLeast(Duration.ofMillis(20));
    locks.tryAcquire(brief).orElseThrow().release();
    LockRequest longer =
        LockRequest.of("long-" + System.nanoTime(), Cluster.TTL)
            .holdAtLeast(Cluster.TTL.multipliedBy(3));
    assertThat(locks.tryAcquire(longer).orElseThrow().release()).isTrue();
  }

  private LockManager open(String user, String database, boolean scriptless) {
    List<String> uris =
        cluster.nodes().stream()
            .map(node -> "redis://" + user + ":secret@" + node.address() + database)
            .toList();
    return LockManager.open(
        backend.url(uris),
        Map.of(
            "keyPrefix",
            PREFIX,
            "nodeTimeout",
            "2s",
            "connectTimeout",
            "10s",
            "retryDelay",
            "20ms",
            "fencing",
            Boolean.toString(!scriptless),
            "restartGuard",
            Boolean.toString(!scriptless)));
  }

  /** Grants rights as an administrator does, to a user who starts with none. */
  private static void allow(TestNode node, String user, List<String> line) {
    List<String> command = new ArrayList<>(List.of("ACL", "SETUSER", user, "reset"));
    command.addAll(line);
    node.command(command.toArray(String[]::new));
  }

  private List<String> deniedOnAll() {
    return cluster.nodes().stream().flatMap(node -> denied(node).stream()).distinct().toList();
  }

  private static List<String> denied(TestNode node) {
    List<String> commands = new ArrayList<>();
    if (node.command("ACL", "LOG") instanceof List<?> entries) {
      for (Object entry : entries) {
        if (entry instanceof List<?> fields) {
          commands.add(
              String.valueOf(fields.get(fields.indexOf("object") + 1)).replaceFirst("\\|.*", ""));
        }
      }
    }
    return commands;
  }

  /** Returns whether a right is needed: Lettuce sends no PING for a user who logs in. */
  private boolean isNeeded(String word) {
    return word.startsWith("+") && !(backend == Backend.LETTUCE && word.equals("+ping"));
  }

  private static boolean isScriptless(List<String> line) {
    return !line.contains("+eval");
  }

  private static String commandOf(String right) {
    return right.substring(1).replaceFirst("\\|.*", "");
  }

  /** The rights of each line, from "on" on. */
  private static List<List<String>> lines() throws IOException {
    List<List<String>> lines =
        Files.readAllLines(DOCUMENT).stream()
            .filter(line -> line.startsWith("ACL SETUSER locks "))
            .map(line -> Arrays.asList(line.substring("ACL SETUSER locks ".length()).split(" ")))
            .toList();
    assertThat(lines).hasSizeGreaterThanOrEqualTo(4);
    return lines;
  }
}
