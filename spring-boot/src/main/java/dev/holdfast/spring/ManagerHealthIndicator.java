package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

/**
 * The health of a manager: up if a quorum of nodes answers and may vote. A manager without a node
 * to spare is up, with a warning: a status of our own would not count in Boot's order. The health
 * of a decorator that hides its manager is unknown.
 */
final class ManagerHealthIndicator extends AbstractHealthIndicator {
  private static final Set<LockNode.State> FAILED =
      Set.of(LockNode.State.DOWN, LockNode.State.QUARANTINED);

  private final LockManager manager;
  private final Duration timeout;

  /**
   * Creates the health of a manager.
   *
   * @param timeout the value of holdfast.health-timeout
   * @throws LockConfigurationException if the timeout is not above zero
   */
  ManagerHealthIndicator(LockManager manager, Duration timeout) {
    super("the health check of locks failed");
    if (timeout.isZero() || timeout.isNegative()) {
      throw new LockConfigurationException(
          "holdfast.health-timeout is " + timeout + "; set it to more than zero");
    }
    this.manager = manager;
    this.timeout = timeout;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    health.unknown();
    try {
      boolean isUp = manager.ping(timeout);
      health.status(isUp ? Status.UP : Status.DOWN);
      List<LockNode> nodes = manager.nodes();
      health.withDetail("nodes", nodes.stream().map(LocksReport::of).toList());
      if (isUp && isWithoutSpare(nodes)) {
        health.withDetail("warning", "no node to spare: one more node that fails stops all locks");
      }
    } catch (LockConfigurationException e) {
      if (manager.unwrap(LockManager.class).isPresent()) {
        throw e; // a person has to correct a node
      }
      health.withException(e); // a decorator that hides its manager, and no outage
    }
  }

  /** Returns whether nodes failed, and the others are only just a quorum. */
  private static boolean isWithoutSpare(List<LockNode> nodes) {
    long failed = nodes.stream().filter(node -> FAILED.contains(node.state())).count();
    int quorum = nodes.size() / 2 + 1;
    return failed > 0 && nodes.size() - failed <= quorum;
  }
}
