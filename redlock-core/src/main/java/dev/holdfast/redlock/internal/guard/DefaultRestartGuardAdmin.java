package dev.holdfast.redlock.internal.guard;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockOutageException;
import dev.holdfast.redlock.RestartGuardAdmin;
import dev.holdfast.redlock.internal.guard.GuardRecords.NodeReport;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The restart guard of one manager, through the guard records of its nodes. */
public final class DefaultRestartGuardAdmin implements RestartGuardAdmin {
  private final GuardRecords guardRecords;
  private final Supplier<CompletableFuture<Void>> opening;

  /**
   * Makes the view of one manager.
   *
   * @param opening connects the manager, as its first request for a lock does
   */
  public DefaultRestartGuardAdmin(
      GuardRecords guardRecords, Supplier<CompletableFuture<Void>> opening) {
    this.guardRecords = guardRecords;
    this.opening = opening;
  }

  @Override
  public List<Node> nodes() {
    return ask(node -> NodeGuardState.NONE).stream().map(NodeReport::node).toList();
  }

  @Override
  public void init() {
    init(nodes -> true);
  }

  @Override
  public boolean init(Predicate<? super List<Node>> wanted) {
    List<NodeReport> reports = ask(node -> NodeGuardState.NONE);
    if (reports.stream().allMatch(report -> report.is(State.VOTES))) {
      return true;
    }
    requireNew(reports);
    if (!wanted.test(reports.stream().map(NodeReport::node).toList())) {
      return false;
    }
    List<NodeReport> marked = ask(node -> reports.get(node).begun());
    if (!marked.stream().allMatch(report -> report.is(State.VOTES))) {
      throw new LockOutageException(
          "not all nodes were initialised: the others vote when their quarantine is over",
          others(marked, State.VOTES),
          true);
    }
    return true;
  }

  private static void requireNew(List<NodeReport> reports) {
    Map<String, Throwable> others = others(reports, State.NEW);
    if (reports.stream().anyMatch(report -> report.is(State.FOREIGN))) {
      throw new LockConfigurationException(
          "no node was initialised: some nodes belong to other clients: " + described(others));
    }
    if (reports.stream().anyMatch(report -> report.is(State.UNREACHABLE))) {
      throw new LockOutageException(
          "no node was initialised: not all nodes answer; check them and try again", others, false);
    }
    if (!others.isEmpty()) {
      Duration left =
          reports.stream()
              .map(report -> report.node().left())
              .max(Duration::compareTo)
              .orElseThrow();
      throw new LockOutageException(
          "no node was initialised: some nodes are not new, so locks may be held; wait "
              + (left.toSeconds() + 1)
              + " s, and all vote",
          causes(reports.stream()),
          false);
    }
  }

  private static Map<String, Throwable> others(List<NodeReport> reports, State state) {
    return causes(reports.stream().filter(report -> !report.is(state)));
  }

  private static Map<String, Throwable> causes(Stream<NodeReport> reports) {
    Map<String, Throwable> causes = new LinkedHashMap<>();
    reports.forEach(report -> causes.put(report.node().address(), report.cause()));
    return causes;
  }

  private static String described(Map<String, Throwable> nodes) {
    return nodes.entrySet().stream()
        .map(node -> node.getKey() + ": " + node.getValue().getMessage())
        .collect(Collectors.joining("; "));
  }

  private List<NodeReport> ask(IntFunction<String> toEnd) {
    opening.get().join();
    return guardRecords.ask(toEnd).join();
  }
}
