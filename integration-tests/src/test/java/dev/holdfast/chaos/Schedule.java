package dev.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/** Which faults meet, by a seed. Each kind has had its turn before any comes again. */
final class Schedule {
  private static final int SHORTEST_MILLIS = 100;
  private static final int LONGEST_MILLIS = 2_000;

  private final Random random;
  private final int nodes;
  private final Deck<NodeFault> nodeFaults;
  private final Deck<ClientFault> clientFaults;

  Schedule(
      long seed,
      int nodes,
      Collection<NodeFault> nodeFaults,
      Collection<ClientFault> clientFaults) {
    this.random = new Random(seed);
    this.nodes = nodes;
    this.nodeFaults = new Deck<>(nodeFaults);
    this.clientFaults = new Deck<>(clientFaults);
  }

  /**
   * Faults that begin together, and last as long.
   *
   * @param nodes the faults and their nodes, each of which is in one list at most
   */
  record Round(
      Map<NodeFault, List<Integer>> nodes, Optional<ClientFault> client, Duration lasting) {}

  Round next() {
    List<Integer> order = new ArrayList<>();
    for (int node = 0; node < nodes; node++) {
      order.add(node);
    }
    Collections.shuffle(order, random);
    int victims = victims();
    Map<NodeFault, List<Integer>> faults = new TreeMap<>();
    nodeFaults.next().ifPresent(fault -> faults.put(fault, List.copyOf(order.subList(0, victims))));
    if (victims < nodes && random.nextBoolean()) {
      nodeFaults.next().ifPresent(other -> faults.putIfAbsent(other, List.of(order.get(victims))));
    }
    return new Round(
        faults,
        faults.isEmpty() || random.nextBoolean() ? clientFaults.next() : Optional.empty(),
        Duration.ofMillis(random.nextInt(SHORTEST_MILLIS, LONGEST_MILLIS)));
  }

  /** One as a rule, sometimes a minority, a majority, or all. */
  private int victims() {
    int minority = (nodes - 1) / 2;
    return switch (random.nextInt(10)) {
      case 0, 1 -> minority;
      case 2 -> minority + 1;
      case 3 -> nodes;
      default -> 1;
    };
  }

  private final class Deck<T> {
    private final Collection<T> all;
    private final List<T> left = new ArrayList<>();

    private Deck(Collection<T> all) {
      this.all = all;
    }

    private Optional<T> next() {
      if (left.isEmpty()) {
        left.addAll(all);
        Collections.shuffle(left, random);
      }
      return left.isEmpty() ? Optional.empty() : Optional.of(left.remove(left.size() - 1));
    }
  }
}
