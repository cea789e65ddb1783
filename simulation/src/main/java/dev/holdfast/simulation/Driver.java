package dev.holdfast.simulation;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Subscription;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A client's driver, which keeps the promises of the port, except in the profile in which it sends
 * unanswered commands again when a connection has ended.
 */
final class Driver implements RedisNodes {
  private final World world;
  private final Host host;
  private final List<String> addresses;
  private final @Nullable Connection[] present;
  private final @Nullable SimulatedSubscription[] subscriptions;
  private final boolean deaf;
  private boolean opened;
  private final List<List<Request>> toReplay = new ArrayList<>();
  private final Connections first = new Connections(this, 0);
  private final Connections second;

  Driver(World world, Host host) {
    this.world = world;
    this.host = host;
    int size = world.setting.nodes();
    this.addresses =
        IntStream.range(0, world.nodes(host.isStranger))
            .mapToObj(node -> "n" + node + ":6379")
            .toList();
    this.present = new Connection[2 * size];
    this.second = new Connections(this, size);
    this.subscriptions = new SimulatedSubscription[size];
    this.deaf = world.chance(world.rates.deafPerMille);
    for (int index = 0; index < present.length + subscriptions.length; index++) {
      toReplay.add(new ArrayList<>());
    }
  }

  @Override
  public List<String> addresses() {
    return addresses;
  }

  @Override
  public RedisConnections first() {
    return first;
  }

  @Override
  public RedisConnections second() {
    return second;
  }

  /**
   * One connection to each node.
   *
   * @param offset of the connection to node 0 among all
   */
  private record Connections(Driver driver, int offset) implements RedisConnections {
    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return driver.connect(driver.world.nodes.get(node), offset + node, disconnected);
    }

    @Override
    public void disconnect(int node) {
      driver.drop(offset + node);
    }

    @Override
    public void submit(Round round) {
      driver.submit(round, offset);
    }
  }

  private CompletableFuture<Void> connect(Node node, int index, Runnable disconnected) {
    Connection connection = new Connection(world, host, node, index, disconnected);
    present[index] = connection;
    node.connecting(connection);
    connection.open();
    return connection.made();
  }

  private void drop(int index) {
    Connection connection = present[index];
    if (connection != null) {
      connection.end("closed", false);
    }
  }

  private void submit(Round round, int offset) {
    if (isSecondTrip(round.command())) {
      world.judge.secondTrip();
    }
    attemptAt(round.command())
        .ifPresent(
            key -> {
              opened |= Workload.isLock(key);
              world.judge.listening.asks(host, key);
            });
    world.judge.polls.sending(host, round);
    Ambush.mayBeLaid(world, host, round);
    boolean standsStill =
        !host.isPaused() && !world.isHealed() && world.chance(world.rates.midRoundPausesPerMille);
    int sent = standsStill ? world.random.nextInt(addresses.size()) : -1;
    round.forEachNode(
        node -> {
          if (node == sent) {
            host.pause(
                Faults.end(world, world.spread(5_000, world.setting.longestTtlMillis() * 2_000L)));
          }
          Connection connection = present[offset + node];
          if (connection == null || connection.isEnded()) {
            fail(round, node, new IOException("not connected"));
          } else {
            connection.send(round);
          }
        });
  }

  /** Reports that a node gives no answer. */
  void fail(Round round, int node, IOException cause) {
    Poll poll = world.judge.polls.failing(round, node);
    round.failure(node, cause);
    world.judge.polls.read(poll);
  }

  /** Reports a node's answer. */
  void answer(Round round, int node, @Nullable Object reply) {
    Poll poll = world.judge.polls.reading(round, node, reply);
    if (reply instanceof RedisError error) {
      round.error(node, error.text());
    } else {
      round.reply(node, reply);
    }
    world.judge.polls.read(poll);
  }

  /** Returns the key at which an attempt stores its token, or empty for other commands. */
  private static Optional<String> attemptAt(Command command) {
    if (command instanceof Command.SetIfAbsent set) {
      return Optional.of(set.key());
    }
    return command instanceof Command.Eval eval && eval.script().source().contains("'NX'")
        ? eval.keys().stream().findFirst()
        : Optional.empty();
  }

  /**
   * Returns whether this is the second trip of a grant. Only that takes a counter and three words:
   * the token, the fencing token and its time to live.
   */
  private static boolean isSecondTrip(Command command) {
    return command instanceof Command.Eval eval
        && !eval.withSource()
        && eval.keys().size() == 2
        && eval.arguments().size() == 3;
  }

  @Override
  public void subscribe(int node, Subscription subscription) {
    if (deaf) {
      return;
    }
    SimulatedSubscription made =
        new SimulatedSubscription(
            world, host, world.nodes.get(node), present.length + node, subscription);
    subscriptions[node] = made;
    made.open();
  }

  @Override
  public void close() {
    for (int index = 0; index < present.length; index++) {
      drop(index);
    }
  }

  @Nullable Connection present(int node) {
    return present[node];
  }

  /** Returns whether the connection to a node has worked since then. */
  boolean reaches(Node node, long then) {
    Connection connection = present[node.id()];
    return connection != null && connection.worksSince() <= then && node.worksSince() <= then;
  }

  /** Returns whether the subscription's connection to a node has worked since then. */
  boolean listens(Node node, long then) {
    SimulatedSubscription subscription = subscriptions[node.id()];
    return subscription != null
        && subscription.connection().worksSince() <= then
        && node.worksSince() <= then;
  }

  /**
   * Returns whether the client can subscribe at a node. The node can be reached, and the connection
   * of the subscription has worked since then or had ended by then.
   */
  boolean mayListen(Node node, long then) {
    SimulatedSubscription subscription = subscriptions[node.id()];
    boolean away = subscription == null || subscription.connection().hadEndedAt(then);
    return !deaf && reaches(node, then) && (away || listens(node, then));
  }

  boolean awaitsAnswers() {
    return Arrays.stream(present)
        .anyMatch(connection -> connection != null && connection.awaitsAnswers());
  }

  /** Returns whether the manager is connecting and no request for a lock was made yet. */
  boolean isOpening() {
    return present[0] != null && !opened;
  }

  void replayLater(int index, List<Request> unanswered) {
    toReplay.get(index).addAll(unanswered);
  }

  void established(Connection connection, Node node, int index) {
    List<Request> again = List.copyOf(toReplay.get(index));
    toReplay.get(index).clear();
    if (!again.isEmpty()) {
      world.at(
          world.now() + world.spread(100, 300_000),
          host,
          () -> {
            for (Request request : again) {
              if (connection.isEnded()) {
                fail(request.round(), node.id(), new IOException("not connected"));
              } else {
                connection.send(request.round());
              }
            }
          });
    }
  }

  void die() {
    for (Connection connection : present) {
      if (connection != null) {
        connection.die();
      }
    }
    for (SimulatedSubscription subscription : subscriptions) {
      if (subscription != null) {
        subscription.connection().die();
      }
    }
  }
}
