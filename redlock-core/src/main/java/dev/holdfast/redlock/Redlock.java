package dev.holdfast.redlock;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.Scheduler;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Makes a Redlock manager of a driver's nodes. For authors of drivers. */
public final class Redlock {
  /** Connections, two to a node, are bits of a long; nobody runs more than seven nodes. */
  private static final int MOST_NODES = 31;

  private static final Logger LOG = System.getLogger(Redlock.class.getName());

  private Redlock() {}

  /**
   * Opens a manager over some nodes, which it closes when it is closed, or when opening fails.
   * Connects, unless the options say otherwise.
   *
   * @param nodes N independent masters
   * @param options how to run the algorithm
   * @return a new manager, to be closed by the caller
   * @throws LockConfigurationException if there is no node, or what was found on one is wrong: a
   *     replica, the same server twice, bad credentials
   * @throws LockBackendException if no quorum can be reached in time
   */
  public static LockManager open(RedisNodes nodes, RedlockOptions options) {
    int size = nodes.addresses().size();
    if (size < 1 || size > MOST_NODES) {
      nodes.close();
      throw new LockConfigurationException(
          "there are " + size + " nodes: give 1 to " + MOST_NODES + "; 3 or 5 are usual");
    }
    Guard guard;
    try {
      guard = new Guard(options, nodes.addresses());
    } catch (LockConfigurationException e) {
      nodes.close();
      throw e;
    }
    Vote vote = options.isFencing() ? Scripts.ACQUIRE : guard.isOn() ? Scripts.TAKE : null;
    Scheduler scheduler = options.scheduler().orElseGet(() -> ownScheduler(nodes));
    RedlockPrimitive primitive =
        new RedlockPrimitive(
            new WithoutScripts(
                nodes,
                () ->
                    vote == null
                        ? List.of()
                        : List.of(guard.teaching(vote), guard.teaching(Scripts.EXTEND)),
                options.isTrustingNewNodes()),
            options,
            guard,
            scheduler,
            options.scheduler().isPresent() ? () -> {} : scheduler::close);
    LockManager manager;
    try {
      manager = options.applyTo(LockManagerBuilder.over(primitive).scheduler(scheduler)).build();
    } catch (LockConfigurationException e) {
      primitive.close();
      throw e;
    }
    if (options.isTrustingNewNodes() && guard.isOn()) {
      LOG.log(
          Level.WARNING,
          "newNodes=trust: if all nodes look new, they vote at once. Nodes that have all lost their"
              + " data look the same, and give locks away that are held: for tests and trials only");
    }
    if (!options.isLazy()) {
      try {
        primitive.open().join();
        requireQuorum(primitive.members(), guard);
      } catch (LockConfigurationException | LockBackendException e) {
        manager.close();
        throw e;
      }
    }
    return manager;
  }

  private static Scheduler ownScheduler(RedisNodes nodes) {
    try {
      return Scheduler.create("holdfast-redlock-timer");
    } catch (LockConfigurationException noThread) {
      nodes.close();
      throw noThread;
    }
  }

  private static void requireQuorum(Members members, Guard guard) {
    Map<String, Throwable> down = new LinkedHashMap<>();
    for (int node = 0; node < members.size(); node++) {
      if (members.reachable(1L << node) == 0) {
        NodeException cause = members.cause(node);
        if (cause.isMisconfigured()) {
          throw new LockConfigurationException(
              "node "
                  + members.address(node)
                  + " cannot vote: "
                  + cause.getMessage()
                  + (cause.isVeto() ? guard.given() : ""),
              cause);
        }
        down.put(members.address(node), cause);
      }
    }
    int quorum = Tally.quorumOf(members.size());
    int up = members.size() - down.size();
    if (up < quorum) {
      throw new LockBackendException(
          "connected to "
              + up
              + " of "
              + members.size()
              + " nodes, which is no quorum ("
              + quorum
              + "); start the nodes or check their addresses",
          down,
          false);
    }
  }
}
