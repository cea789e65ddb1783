package dev.holdfast.simulation;

import dev.holdfast.redlock.spi.Round;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One connection from a client to a node, as TCP makes it: bytes arrive in order, or not at all
 * from some point on. Bytes that were on their way when it ended may still arrive, and much later.
 */
final class Connection {
  private final World world;
  private final Host host;
  private final Node node;
  private final int index;
  private final Runnable disconnected;
  private final CompletableFuture<Void> made = new CompletableFuture<>();
  private final Deque<Request> unanswered = new ArrayDeque<>();
  private long epoch = -1;
  private long establishedAt;
  private long arrivesUpAfter;
  private long arrivesDownAfter;
  private long troubledUntil;
  private boolean ended;
  private long endedAt;
  private boolean cutUp;
  private boolean cutDown;

  Connection(World world, Host host, Node node, int index, Runnable disconnected) {
    this.world = world;
    this.host = host;
    this.node = node;
    this.index = index;
    this.disconnected = disconnected;
  }

  CompletableFuture<Void> made() {
    return made;
  }

  Host host() {
    return host;
  }

  /** Returns the life of the node in which it accepted this connection. */
  long epoch() {
    return epoch;
  }

  boolean isEnded() {
    return ended;
  }

  /**
   * Returns the time since which this works without trouble, or {@link Long#MAX_VALUE} if it does
   * not.
   */
  long worksSince() {
    return made.isDone() && !ended && !cutUp && !cutDown
        ? Math.max(establishedAt, troubledUntil)
        : Long.MAX_VALUE;
  }

  /** Returns whether this had ended by then, as the client saw it. */
  boolean hadEndedAt(long then) {
    return ended && endedAt <= then;
  }

  boolean awaitsAnswers() {
    return !ended && !unanswered.isEmpty();
  }

  void open() {
    world.at(up(), null, () -> node.accept(this));
  }

  /** Notes that the node has accepted. */
  void accepted(long nodeEpoch) {
    epoch = nodeEpoch;
    world.at(
        down(),
        host,
        () -> {
          if (!ended) {
            establishedAt = world.now();
            host.driver.established(this, node, index);
            made.complete(null);
          }
        });
  }

  /** Ends this, because no server listens there. */
  void refused() {
    world.at(down(), host, () -> end("connection refused", false));
  }

  void send(Round round) {
    Request request = new Request(this, round, world.now());
    unanswered.add(request);
    if (cutUp) {
      return;
    }
    if (!world.isHealed() && world.chance(world.rates.breaksPerMille)) {
      breakWith(request);
    } else {
      world.at(up(), null, () -> node.receive(request));
    }
  }

  /**
   * Breaks the connection at a request, so that the client does not know whether and when the node
   * carries out the command.
   */
  private void breakWith(Request request) {
    world.note(host.id(), node.id(), "connection breaks", "");
    int kind = world.random.nextInt(3);
    if (kind == 0) {
      cutUp = true;
    } else {
      cutDown = kind == 1;
      long late = kind == 1 ? 0 : world.spread(1_000, 2_000L * world.setting.longestTtlMillis());
      long arrives = Math.min(up() + late, world.healing() + 10_000);
      world.at(arrives, null, () -> node.receive(request));
      cutUp = true; // all that comes after it is lost
    }
    resetIn(world.spread(100, 500_000));
  }

  /** Sends the node a message that has no answer. */
  void say(Runnable atNode) {
    if (!cutUp && !ended) {
      world.at(up(), null, () -> node.act(this, atNode));
    }
  }

  /**
   * Sends the client a message that it did not request. The connection may break at this message.
   */
  void deliver(Runnable atClient) {
    if (!world.isHealed() && world.chance(world.rates.breaksPerMille)) {
      world.note(host.id(), node.id(), "connection breaks", "");
      silence();
      resetIn(world.spread(100, 500_000));
    }
    if (!cutDown) {
      world.at(
          down(),
          host,
          () -> {
            if (!ended) {
              atClient.run();
            }
          });
    }
  }

  /** Sends a reply. */
  void reply(Request request, @Nullable Object reply) {
    if (!cutDown) {
      world.at(down(), host, () -> answer(request, reply));
    }
  }

  private void answer(Request request, @Nullable Object reply) {
    if (ended) {
      return;
    }
    unanswered.remove(request);
    host.driver.answer(request.round(), node.id(), reply);
  }

  /** Ends this at the client after a delay. */
  void resetIn(long micros) {
    long when = Math.min(world.now() + micros, world.healing());
    world.at(Math.max(when, arrivesDownAfter), host, () -> end("connection reset", true));
  }

  /** Lets nothing through either way until then. A message that is sent meanwhile arrives later. */
  void stall(long until) {
    arrivesUpAfter = Math.max(arrivesUpAfter, until);
    arrivesDownAfter = Math.max(arrivesDownAfter, until);
    troubledUntil = Math.max(troubledUntil, until);
  }

  /** Loses all further messages, as when the node is gone without a reset. */
  void silence() {
    cutUp = true;
    cutDown = true;
  }

  /** Ends it at the client. Commands that were sent may still be carried out. */
  void end(String why, boolean byNetwork) {
    if (ended) {
      return;
    }
    ended = true;
    endedAt = world.now();
    boolean wasMade = made.isDone();
    List<Request> left = new ArrayList<>(unanswered);
    unanswered.clear();
    if (byNetwork && world.rates.driverReplays) {
      host.driver.replayLater(index, left);
    } else {
      IOException failure = new IOException(why);
      left.forEach(request -> host.driver.fail(request.round(), node.id(), failure));
    }
    if (wasMade) {
      disconnected.run();
    } else {
      made.completeExceptionally(new IOException(why));
    }
  }

  /**
   * Ends this because the client's process has died. The last messages that it sent may be lost or
   * not.
   */
  void die() {
    ended = true;
    endedAt = world.now();
    cutDown = true;
    cutUp = true;
  }

  private long up() {
    arrivesUpAfter = Math.max(arrivesUpAfter, Math.max(world.now(), host.pausedUntil()) + delay());
    return arrivesUpAfter;
  }

  private long down() {
    arrivesDownAfter = Math.max(arrivesDownAfter, world.now() + delay());
    return arrivesDownAfter;
  }

  private long delay() {
    long usual = world.setting.latencyMicros();
    long delay = usual / 2 + world.random.nextLong(usual);
    if (world.chance(world.rates.stallsPerMille)) {
      long stall = world.spread(5_000, 1_000L * world.rates.longestStallMillis);
      delay += Math.min(stall, Math.max(0, world.healing() - world.now()));
      troubledUntil = Math.max(troubledUntil, world.now() + delay);
    }
    return delay;
  }
}
