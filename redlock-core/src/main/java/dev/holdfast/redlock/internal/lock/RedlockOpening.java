package dev.holdfast.redlock.internal.lock;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.Scheduler;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.internal.AlgorithmOptions;
import dev.holdfast.redlock.internal.guard.GuardTerms;
import dev.holdfast.redlock.internal.nodes.NodeConnections;
import dev.holdfast.redlock.internal.nodes.NodeException;
import dev.holdfast.redlock.internal.noscript.ScriptFallback;
import dev.holdfast.redlock.internal.vote.GuardedScript;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.internal.vote.Tally;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.RedisNodes;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Opens a manager over some nodes. */
public final class RedlockOpening {
  /** Maximum number of nodes: 3 or 5 are usual, and each one more is one more to ask. */
  private static final int MAX_NODES = 31;

  private static final Logger LOG = System.getLogger(Redlock.class.getName());

  private RedlockOpening() {}

  /**
   * Opens a manager over some nodes, which it closes when it is closed, or when opening fails.
   * Connects, unless the options say otherwise.
   *
   * @param nodes N independent masters
   * @param options how to run the algorithm
   * @return a new manager, to be closed by the caller
   * @throws LockConfigurationException if there is no node, or what was found on one is wrong: a
   *     replica, the same server twice, bad credentials
   * @throws LockOutageException if no quorum can be reached in time
   */
  public static LockManager open(RedisNodes nodes, AlgorithmOptions options) {
    Runnable closing = nodes::close;
    try {
      requireDistinct(nodes.addresses());
      GuardTerms guard = new GuardTerms(options, nodes.addresses());
      Scheduler scheduler =
          options.scheduler().orElseGet(() -> Scheduler.create("holdfast-redlock-timer"));
      Runnable afterClose = options.scheduler().isPresent() ? () -> {} : scheduler::close;
      closing = () -> closeBoth(nodes, afterClose);
      RedlockPrimitive primitive =
          new RedlockPrimitive(
              nodes,
              new ScriptFallback(
                  nodes, () -> teaching(options, guard), options.isTrustingNewNodes()),
              options,
              guard,
              scheduler,
              afterClose);
      closing = primitive::close;
      LockManager manager =
          LockManagerBuilder.over(primitive, options.managerOptions()).scheduler(scheduler).build();
      closing = manager::close;
      warnOfTrust(options, guard);
      if (!options.isLazy()) {
        primitive.open().join();
        requireQuorum(primitive.connections(), guard);
      }
      return manager;
    } catch (Throwable e) { // of the user's code, too, and perhaps a checked one
      closeAfter(e, closing);
      throw e;
    }
  }

  private static void closeBoth(RedisNodes nodes, Runnable afterClose) {
    try {
      nodes.close();
    } finally {
      afterClose.run();
    }
  }

  private static void closeAfter(Throwable failure, Runnable closing) {
    try {
      closing.run();
    } catch (RuntimeException | Error alsoFailed) {
      if (alsoFailed != failure) { // a failure cannot suppress itself
        failure.addSuppressed(alsoFailed);
      }
    }
  }

  private static void requireDistinct(List<String> addresses) {
    int size = addresses.size();
    if (size < 1 || size > MAX_NODES) {
      throw new LockConfigurationException(
          "there are " + size + " nodes: give 1 to " + MAX_NODES + "; 3 or 5 are usual");
    }
    Set<String> known = new HashSet<>();
    for (String address : addresses) {
      if (!known.add(address)) {
        throw new LockConfigurationException(
            "node " + address + " is listed twice: list each server once");
      }
    }
  }

  /** Returns the commands by which a node that is connected learns the scripts of each attempt. */
  private static List<Command> teaching(AlgorithmOptions options, GuardTerms guard) {
    if (!options.isFencing() && !guard.isOn()) {
      return List.of();
    }
    GuardedScript acquire = options.isFencing() ? Scripts.ACQUIRE : Scripts.TAKE;
    return List.of(guard.teaching(acquire), guard.teaching(Scripts.EXTEND));
  }

  private static void warnOfTrust(AlgorithmOptions options, GuardTerms guard) {
    if (options.isTrustingNewNodes() && guard.isOn()) {
      LOG.log(
          Level.WARNING,
          "newNodes=trust: if all nodes look new, they vote at once. Nodes that have all lost their"
              + " data look the same, and give locks away that are held: for tests and trials"
              + " only");
    }
  }

  private static void requireQuorum(NodeConnections connections, GuardTerms guard) {
    Map<String, Throwable> down = new LinkedHashMap<>();
    for (int node = 0; node < connections.size(); node++) {
      if (!connections.isReachable(node)) {
        NodeException cause = connections.cause(node);
        if (cause.isMisconfigured()) {
          throw new LockConfigurationException(
              "node "
                  + connections.address(node)
                  + " cannot vote: "
                  + cause.getMessage()
                  + (cause.isVeto() ? guard.describe() : ""),
              cause);
        }
        down.put(connections.address(node), cause);
      }
    }
    int quorum = Tally.quorumOf(connections.size());
    int up = connections.size() - down.size();
    if (up < quorum) {
      throw new LockOutageException(
          "connected to "
              + up
              + " of "
              + connections.size()
              + " nodes, which is no quorum ("
              + quorum
              + "); start the nodes or check their addresses",
          down,
          false);
    }
  }
}
