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
import org.jspecify.annotations.Nullable;

/**
 * The driver's nodes, with transactions in the place of scripts where the user may run none. That
 * is tried when a node is connected; all that stands above sees no difference.
 */
final class WithoutScripts implements RedisNodes {
  private static final Logger LOG = System.getLogger(Redlock.class.getName());

  private final RedisNodes driver;
  private final boolean scriptsNeeded;
  private final Command probe;
  private final int size;
  private final AtomicReferenceArray<@Nullable Connections> present;
  private final Set<Integer> told = ConcurrentHashMap.newKeySet();

  /**
   * Connects nothing yet.
   *
   * @param scriptsNeeded whether a node without scripts is of no use
   */
  WithoutScripts(RedisNodes driver, boolean scriptsNeeded) {
    this.driver = driver;
    this.scriptsNeeded = scriptsNeeded;
    this.probe =
        new Command.Eval(
            scriptsNeeded ? Scripts.ACQUIRE : Scripts.NOTHING, true, List.of(), List.of());
    this.size = driver.addresses().size();
    this.present = new AtomicReferenceArray<>(size);
  }

  @Override
  public List<String> addresses() {
    return driver.addresses();
  }

  @Override
  public CompletionStage<Void> connect(int node, Runnable disconnected) {
    Connections connections = new Connections(node, disconnected);
    present.set(node, connections);
    return driver
        .connect(node, connections::firstEnded)
        .thenCompose(done -> mayRunScripts(node))
        .thenCompose(may -> may ? CompletableFuture.completedFuture(null) : without(connections));
  }

  private CompletionStage<Void> without(Connections connections) {
    return scriptsNeeded
        ? CompletableFuture.failedFuture(
            NodeException.misconfigured(
                "its user may run no scripts, which fencing tokens need: allow EVAL and EVALSHA,"
                    + " or give fencing=false"))
        : connections.second();
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
  public <T> Optional<T> unwrap(Class<T> type) {
    return driver.unwrap(type);
  }

  @Override
  public void close() {
    driver.close();
  }

  private CompletableFuture<Boolean> mayRunScripts(int node) {
    return OneNode.ask(driver, node, probe)
        .handle(
            (reply, failure) -> {
              String error = OneNode.errorOf(failure);
              return error == null
                  || !(error.startsWith("NOPERM") || error.startsWith("ERR unknown command"));
            });
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
            addresses().get(node));
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
      } else {
        driver.disconnect(other);
      }
    }
  }
}
