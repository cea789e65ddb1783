package dev.holdfast.redlock;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The driver's nodes, with transactions in the place of scripts where the user may run none. That
 * is tried when a node is connected; all that stands above sees no difference.
 */
final class WithoutScripts implements RedisNodes {
  private static final Logger LOG = System.getLogger(Redlock.class.getName());

  private static final Command ANY_SCRIPT =
      new Command.Eval(Scripts.NOTHING, true, List.of(), List.of());

  private final RedisNodes driver;
  private final Supplier<List<Command>> first;
  private final boolean trustsNew;
  private final int size;
  private final AtomicReferenceArray<@Nullable Connections> present;
  private final Set<Integer> told = ConcurrentHashMap.newKeySet();

  /**
   * Connects nothing yet.
   *
   * @param first what a node that has been connected runs before all else, so that it knows the
   *     source: the script by which locks are taken, whose answer tells whether it votes, then
   *     others; nothing if locks are taken without
   * @param trustsNew whether nodes that all look new are to vote at once, so that it needs no word
   */
  WithoutScripts(RedisNodes driver, Supplier<List<Command>> first, boolean trustsNew) {
    this.driver = driver;
    this.trustsNew = trustsNew;
    this.first = first;
    this.size = driver.addresses().size();
    this.present = new AtomicReferenceArray<>(size);
  }

  @Override
  public List<String> addresses() {
    return driver.addresses();
  }

  @Override
  public boolean isTls(int node) {
    return driver.isTls(node);
  }

  @Override
  public CompletionStage<Void> connect(int node, Runnable disconnected) {
    Connections connections = new Connections(node, disconnected);
    present.set(node, connections);
    return driver
        .connect(node, connections::firstEnded)
        .thenCompose(
            done -> {
              List<Command> commands = first.get();
              return commands.isEmpty() ? tried(connections) : begun(node, commands);
            });
  }

  /** Scripts are not needed, but better. */
  private CompletionStage<Void> tried(Connections connections) {
    return ask(connections.node, ANY_SCRIPT)
        .thenCompose(
            error ->
                isForbidden(error)
                    ? connections.second()
                    : CompletableFuture.completedFuture(null));
  }

  private CompletionStage<Void> begun(int node, List<Command> commands) {
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
                                ? NodeException.misconfigured(NodeException.SENTINEL)
                                : forbidden(error, without))
                    .thenCompose(CompletableFuture::failedFuture);
              }
              if (error.startsWith(Guard.FOREIGN)) {
                return CompletableFuture.failedFuture(Guard.foreign(error));
              }
              Quarantine quarantine = Quarantine.in(error);
              if (quarantine != null) {
                tell(node, quarantine);
              }
              return CompletableFuture.completedFuture(null);
            });
  }

  private void tell(int node, Quarantine quarantine) {
    LOG.log(
        quarantine.isNew() && trustsNew ? Level.DEBUG : Level.WARNING,
        "node {0} does not vote: {1}{2}",
        address(node),
        quarantine,
        quarantine.isNew() && !trustsNew ? "; if all nodes are new: " + Quarantine.IF_NEW : "");
  }

  /** A Sentinel knows no scripts, whatever the user's rights. */
  private CompletableFuture<Boolean> isSentinel(int node) {
    return OneNode.ask(driver, node, new Command.Info())
        .handle(
            (reply, failure) ->
                failure == null && Examination.Found.in(String.valueOf(reply)).isSentinel());
  }

  private static NodeException forbidden(String error, String withoutKeys) {
    return NodeException.misconfigured(
        isForbidden(withoutKeys)
            ? "its user may run no scripts, which fencing tokens and the restart guard need: allow"
                + " EVAL and EVALSHA, or give fencing=false and restartGuard=off"
            : error
                + " (what fencing tokens and the restart guard need is in docs/acl.md; without,"
                + " give fencing=false and restartGuard=off)");
  }

  /** Completes with the error of its reply, or with nothing. */
  private CompletableFuture<String> ask(int node, Command command) {
    return OneNode.ask(driver, node, command)
        .handle((reply, failure) -> OneNode.errorOf(failure))
        .thenApply(error -> error == null ? "" : ScriptError.unwrapped(error));
  }

  private static boolean isForbidden(String error) {
    return error.startsWith("NOPERM") || error.startsWith("ERR unknown command");
  }

  private String address(int node) {
    return addresses().get(node);
  }

  @Override
  public void disconnect(int node) {
    driver.disconnect(node);
    Connections connections = present.get(node);
    if (connections != null && connections.transactions() != null) {
      driver.disconnect(size + node);
    }
  }

  @Override
  public void submit(Round round) {
    long scripts = round.nodes();
    for (long left = scripts; left != 0; left &= left - 1) {
      int node = Long.numberOfTrailingZeros(left);
      Connections connections = present.get(node);
      Transactions transactions = connections == null ? null : connections.transactions();
      if (transactions != null) {
        scripts &= ~(1L << node);
        transactions.submit(round.to(1L << node));
      }
    }
    if (scripts != 0) {
      driver.submit(scripts == round.nodes() ? round : round.to(scripts));
    }
  }

  @Override
  public Ear listen(int node, String channel, Heard heard, Runnable ended) {
    return driver.listen(node, channel, heard, ended);
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return driver.unwrap(type);
  }

  @Override
  public void close() {
    driver.close();
  }

  /** Those to one node, from the attempt to their end. The end of one is the end of both. */
  private final class Connections {
    private final int node;
    private final Runnable disconnected;
    private boolean firstIsOpen = true;
    private boolean secondIsOpen;
    private volatile @Nullable Transactions transactions;

    Connections(int node, Runnable disconnected) {
      this.node = node;
      this.disconnected = disconnected;
    }

    /** Empty where scripts may be run. */
    @Nullable Transactions transactions() {
      return transactions;
    }

    CompletionStage<Void> second() {
      if (told.add(node)) {
        LOG.log(
            Level.INFO,
            "node {0} lets its user run no scripts: locks are released and extended there by"
                + " transactions, on a second connection",
            address(node));
      }
      synchronized (this) {
        secondIsOpen = true;
      }
      transactions = new Transactions(driver, node, size + node);
      return driver
          .connect(size + node, this::secondEnded)
          .whenComplete(
              (done, failure) -> {
                if (failure != null) {
                  secondEnded();
                }
              });
    }

    void firstEnded() {
      boolean over;
      synchronized (this) {
        firstIsOpen = false;
        over = !secondIsOpen;
      }
      ended(over, size + node);
    }

    private void secondEnded() {
      boolean over;
      synchronized (this) {
        secondIsOpen = false;
        over = !firstIsOpen;
      }
      ended(over, node);
    }

    private void ended(boolean over, int other) {
      Transactions open = transactions;
      if (open != null) {
        open.end();
      }
      if (over) {
        disconnected.run();
      } else if (present.get(node) == this) {
        driver.disconnect(other);
      }
    }
  }
}
