package dev.holdfast.legacy.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Processes that share a job, on real servers: one for the old lock, three for the new one. They
 * are numbered, and counted by kind.
 */
final class Fleet implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /**
   * The time of a round: the other processes lose up to three seconds by a kill, and all have a
   * turn.
   */
  private static final Duration ROUND = Duration.ofSeconds(5);

  private static final Duration BEFORE_A_KILL = Duration.ofSeconds(1);

  private final TestNodes servers = TestNodes.start(4);
  private final Path folder;
  private final CriticalSection section;
  private final List<Member> members = new ArrayList<>();
  private final Map<Kind, Integer> kills = new EnumMap<>(Kind.class);
  private int started;

  Fleet(Path folder) {
    this.folder = folder;
    this.section = new CriticalSection(folder, "judge");
  }

  /** Starts some, and returns when all of them work. */
  void start(Kind kind, int count) throws IOException {
    List<String> newServers = servers.uris().subList(1, 4);
    String oldServer = servers.uris().get(0);
    for (int i = 0; i < count; i++) {
      members.add(
          Member.start(
              kind,
              List.of(
                  kind + "-" + started++,
                  folder.toString(),
                  oldServer,
                  "setnx:" + oldServer + "?connectTimeout=10s&keyPrefix=" + FleetProcess.KEY_PREFIX,
                  "redlock:" + String.join(",", newServers) + "?connectTimeout=10s")));
    }
    await().atMost(PATIENCE).until(() -> members.stream().allMatch(Member::isReady));
  }

  /** Lets all members of a kind end once they have released what they hold. */
  void stop(Kind kind) {
    List<Member> ending = alive(kind);
    ending.forEach(Member::stop);
    await().atMost(PATIENCE).until(() -> ending.stream().allMatch(Member::isGone));
  }

  /**
   * Lets them work in rounds. In each, one is killed while it holds the lock, and another takes its
   * place. The phase that was started last comes first, so that one of few rounds is its.
   */
  void work(Duration time) throws IOException {
    List<Kind> kinds =
        members.stream()
            .filter(member -> !member.isGone())
            .map(Member::kind)
            .distinct()
            .sorted(Comparator.reverseOrder())
            .toList();
    for (int round = 0; round < time.dividedBy(ROUND); round++) {
      long begun = System.nanoTime();
      keepWorking(BEFORE_A_KILL);
      killInMidHold(kinds.get(round % kinds.size()));
      keepWorking(ROUND.minusNanos(System.nanoTime() - begun));
    }
  }

  /** Each time that two were in the critical section. */
  List<String> violations() throws IOException {
    return section.violations();
  }

  /** Returns the grants of all processes of a kind, also of those that are gone. */
  long grants(Kind kind) {
    return all(kind).mapToLong(Member::grants).sum();
  }

  /** How many of a kind were killed in mid-hold. */
  int kills(Kind kind) {
    return kills.getOrDefault(kind, 0);
  }

  /** The longest that one of a kind has waited for the lock, or is waiting now. */
  Duration longestWait(Kind kind) {
    return all(kind).map(Member::longestWait).max(Duration::compareTo).orElse(Duration.ZERO);
  }

  /** For people. */
  String figures(Kind kind) {
    return String.format(
        Locale.ROOT,
        "%s: %d processes, %d killed, %d grants, longest wait %.2f s",
        kind,
        all(kind).count(),
        kills(kind),
        grants(kind),
        longestWait(kind).toMillis() / 1000.0);
  }

  @Override
  public void close() {
    members.forEach(Member::kill);
    await().atMost(PATIENCE).until(() -> members.stream().allMatch(Member::isGone));
    servers.close();
  }

  private void keepWorking(Duration time) {
    await()
        .during(time)
        .atMost(time.plus(PATIENCE))
        .untilAsserted(
            () -> {
              assertThat(violations()).isEmpty();
              assertThat(members).noneMatch(Member::hasCrashed);
            });
  }

  private void killInMidHold(Kind kind) throws IOException {
    Member victim = alive(kind).get(0);
    victim.dieInMidHold();
    await().atMost(PATIENCE).until(victim::isInside);
    victim.kill();
    await().atMost(PATIENCE).until(victim::isGone);
    kills.merge(kind, 1, Integer::sum);
    start(kind, 1);
  }

  private List<Member> alive(Kind kind) {
    return all(kind).filter(member -> !member.isGone()).toList();
  }

  private Stream<Member> all(Kind kind) {
    return members.stream().filter(member -> member.kind() == kind);
  }
}
