package dev.holdfast.redlock.internal.noscript;

import dev.holdfast.redis.ServerError;
import dev.holdfast.redis.ServerInfo;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.internal.nodes.NodeException;
import dev.holdfast.redlock.internal.nodes.Quarantine;
import dev.holdfast.redlock.internal.nodes.SingleNodeCall;
import dev.holdfast.redlock.internal.vote.ScriptError;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The connections that carry the commands, one to each of a driver's nodes, with transactions in
 * place of scripts at each node whose user may not run scripts. This is tried when a node is
 * connected, and the layers above see no difference.
 */
public final class ScriptFallback implements RedisConnections {
  private static final Logger LOG = System.getLogger(Redlock.class.getName());

  private static final Command ANY_SCRIPT =
      new Command.Eval(Scripts.NOTHING, true, List.of(), List.of());

  private final RedisNodes driver;
  private final Supplier<List<Command>> teaching;
  private final boolean trustsNew;
  private final AtomicReferenceArray<@Nullable Connections> present;
  private final Set<Integer> logged = ConcurrentHashMap.newKeySet();

  /**
   * Connects nothing yet.
   *
   * @param teaching the commands that teach a node that is connected the scripts, before all other
   *     commands: first the script that takes locks, whose reply tells whether the node votes, or
   *     empty if locks are taken without scripts
   * @param trustsNew whether nodes that all look new vote at once, so that the log need not explain
   *     how to let them
   */
  public ScriptFallback(RedisNodes driver, Supplier<List<Command>> teaching, boolean trustsNew) {
    this.driver = driver;
    this.trustsNew = trustsNew;
    this.teaching = teaching;
    this.present = new AtomicReferenceArray<>(driver.addresses().size());
  }

  @Override
  public CompletableFuture<Void> connect(int node, Runnable disconnected) {
    Connections connections = new Connections(node, disconnected);
    present.set(node, connections);
    return driver
        .first()
        .connect(node, connections::firstEnded)
        .thenCompose(
            done -> {
              List<Command> commands = teaching.get();
              return commands.isEmpty() ? tryScripts(connections) : teach(node, commands);
            });
  }

  /** Tries whether scripts may be run. They are not required, but preferred. */
  private CompletableFuture<Void> tryScripts(Connections connections) {
    return ask(connections.node, ANY_SCRIPT)
        .thenCompose(
            error ->
                isForbidden(error)
                    ? connections.second()
                    : CompletableFuture.completedFuture(null));
  }

  private CompletableFuture<Void> teach(int node, List<Command> commands) {
    List<CompletableFuture<String>> errors =
        commands.stream().map(command -> ask(node, command)).toList();
    return errors
        .get(0)
        .thenCompose(
            error -> {
              if (isForbidden(error)) {
                return ask(node, ANY_SCRIPT)
                    .thenCombine(
                        isSentinel(node),
                        (without, sentinel) ->
                            sentinel
                                ? NodeException.misconfigured(ServerError.SENTINEL)
                                : forbidden(error, without))
                    .thenCompose(CompletableFuture::failedFuture);
              }
              if (error.startsWith(NodeException.FOREIGN)) {
                return CompletableFuture.failedFuture(NodeException.foreign(error));
              }
              Quarantine quarantine = Quarantine.in(error);
              if (quarantine != null) {
                log(node, quarantine);
              }
              return CompletableFuture.completedFuture(null);
            });
  }

  private void log(int node, Quarantine quarantine) {
    LOG.log(
        quarantine.isNew() && trustsNew ? Level.DEBUG : Level.WARNING,
        "node {0} does not vote: {1}{2}",
        address(node),
        quarantine,
        quarantine.isNew() && !trustsNew ? "; if all nodes are new: " + Quarantine.IF_NEW : "");
  }

  /** Tells whether a node is a Sentinel, which knows no scripts, whatever the user's rights. */
  private CompletableFuture<Boolean> isSentinel(int node) {
    return SingleNodeCall.ask(driver.first(), node, new Command.Info())
        .handle(
            (reply, failure) ->
                failure == null && ServerInfo.in(String.valueOf(reply)).isSentinel());
  }

  private static NodeException forbidden(String error, String withoutKeys) {
    return NodeException.misconfigured(
        isForbidden(withoutKeys)
            ? "its user may run no scripts, which fencing tokens and the restart guard need: allow"
                + " EVAL and EVALSHA, or give fencing=false and restartGuard=off"
            : new ServerError(error).text()
                + " (what fencing tokens and the restart guard need is in docs/acl.md; without,"
                + " give fencing=false and restartGuard=off)");
  }

  /**
   * Runs a command.
   *
   * @return completes with the error reply, or with an empty text
   */
  private CompletableFuture<String> ask(int node, Command command) {
    return SingleNodeCall.ask(driver.first(), node, command)
        .handle((reply, failure) -> SingleNodeCall.errorOf(failure))
        .thenApply(error -> error == null ? "" : ScriptError.unwrapped(error));
  }

  private static boolean isForbidden(String error) {
    return error.startsWith("NOPERM") || error.startsWith("ERR unknown command");
  }

  private String address(int node) {
    return driver.addresses().get(node);
  }

  @Override
  public void disconnect(int node) {
    Connections connections = present.get(node);
    boolean hasSecond = connections != null && connections.drop();
    driver.first().disconnect(node);
    if (hasSecond) {
      driver.second().disconnect(node);
    }
  }

  @Override
  public void submit(Round round) {
    NodeSet withScripts = round.nodes().filter(node -> !isSubmittedWithoutScripts(node, round));
    if (!withScripts.isEmpty()) {
      driver.first().submit(round.to(withScripts));
    }
  }

  private boolean isSubmittedWithoutScripts(int node, Round round) {
    Connections connections = present.get(node);
    TransactionalScripts transactions = connections == null ? null : connections.transactions();
    if (transactions != null) {
      transactions.submit(round.to(NodeSet.of(node)));
    }
    return transactions != null;
  }

  /**
   * The connections to one node, from connecting to their end. When one ends, the other does, too.
   */
  private final class Connections {
    private final int node;
    private final Runnable disconnected;
    private boolean firstIsOpen = true;
    private boolean secondIsOpen;
    private boolean isDropped;
    private volatile @Nullable TransactionalScripts transactions;

    Connections(int node, Runnable disconnected) {
      this.node = node;
      this.disconnected = disconnected;
    }

    /** Returns the transactions, or null if scripts may be run. */
    @Nullable TransactionalScripts transactions() {
      return transactions;
    }

    /** Notes that both are dropped. Returns whether there is a second connection. */
    synchronized boolean drop() {
      isDropped = true;
      return transactions != null;
    }

    CompletableFuture<Void> second() {
      if (logged.add(node)) {
        LOG.log(
            Level.INFO,
            "node {0} lets its user run no scripts: locks are released and extended there by"
                + " transactions, on a second connection",
            address(node));
      }
      return connectSecond();
    }

    /**
     * Connects unless the first connection has ended: the next one has a second one of its own.
     * Holds the monitor, so that {@link #drop} is called before or drops the second one, too.
     */
    private synchronized CompletableFuture<Void> connectSecond() {
      if (isDropped || !firstIsOpen) {
        return CompletableFuture.failedFuture(NodeException.ended());
      }
      secondIsOpen = true;
      transactions = new TransactionalScripts(driver, node);
      return driver
          .second()
          .connect(node, this::secondEnded)
          .whenComplete(
              (done, failure) -> {
                if (failure != null) {
                  endsBoth(false); // the caller drops the first one, for this failure
                }
              });
    }

    void firstEnded() {
      dropUnless(endsBoth(true), driver.second());
    }

    private void secondEnded() {
      dropUnless(endsBoth(false), driver.first());
    }

    /** Notes the end of one connection, and reports it if the other one has ended, too. */
    private boolean endsBoth(boolean isFirst) {
      boolean bothEnded;
      synchronized (this) {
        firstIsOpen &= !isFirst;
        secondIsOpen &= isFirst;
        bothEnded = !firstIsOpen && !secondIsOpen;
      }
      TransactionalScripts open = transactions;
      if (open != null) {
        open.end();
      }
      if (bothEnded) {
        disconnected.run();
      }
      return bothEnded;
    }

    private void dropUnless(boolean bothEnded, RedisConnections other) {
      if (!bothEnded && present.get(node) == this) {
        other.disconnect(node);
      }
    }
  }
}
