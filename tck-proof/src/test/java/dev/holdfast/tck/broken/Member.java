package dev.holdfast.tck.broken;

import dev.holdfast.core.Scheduler;
import dev.holdfast.tck.broken.NodeError.Kind;
import dev.holdfast.tck.broken.Way.Examined;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * One manager's connection to one node, which is made again when it ends. All that is not said to
 * be otherwise is done by the network's thread.
 */
class Member {
  private static final System.Logger LOG = System.getLogger(Member.class.getName());
  private static final long RECONNECT_NANOS = Duration.ofMillis(5).toNanos();

  private final String uri;
  private final Way way;
  private final Scheduler network;
  private final Set<Unanswered> unanswered = new LinkedHashSet<>();
  private final List<Request> pending = new ArrayList<>();
  private Function<Examined, String> examiner = found -> "";
  private Runnable settled = () -> {};
  private State state = State.DOWN;
  private NodeError failure = new NodeError(Kind.UNSENT, "it did not answer yet");
  private boolean wasMissed;
  private long connection;

  private enum State {
    DOWN,
    CONNECTING,
    UP,
    CLOSED
  }

  /** A request on its way, or its answer. */
  private static final class Unanswered {
    private final Request request;
    private final Consumer<Object> answer;

    Unanswered(Request request, Consumer<Object> answer) {
      this.request = request;
      this.answer = answer;
    }
  }

  Member(String uri, Way way, Scheduler network) {
    this.uri = uri;
    this.way = way;
    this.network = network;
  }

  /**
   * Begins to connect.
   *
   * @param examiner says what is wrong with a node, or empty if nothing is
   * @param settled is notified when the node is used, or not for the time being
   */
  void open(Function<Examined, String> examiner, Runnable settled) {
    this.examiner = examiner;
    this.settled = settled;
    connect();
  }

  /** How errors name the node. By any thread. */
  String name() {
    return uri.replaceFirst(".*[/@]", "");
  }

  boolean isUp() {
    return state == State.UP;
  }

  boolean isSettled() {
    return state == State.UP || failure.kind() != Kind.UNSENT || !way.isOpen();
  }

  NodeError failure() {
    return failure;
  }

  /** Sends a request. The answer is an error if there is none. */
  void ask(Request request, Consumer<Object> answer) {
    ask(request, () -> true, answer);
  }

  /**
   * Sends a request.
   *
   * @param wanted whether the script's source is sent to a node that does not know it
   * @param answer is given an error if there is no answer
   */
  void ask(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
    connect();
    if (state != State.UP) {
      answer.accept(new NodeError(failure.kind(), String.valueOf(failure.getMessage())));
      return;
    }
    long mine = connection;
    Unanswered sent = new Unanswered(request, answer);
    unanswered.add(sent);
    way.send(
        request,
        this,
        reply -> {
          if (mine == connection && unanswered.remove(sent)) {
            if (reply instanceof NodeError error
                && error.kind() == Kind.NO_SCRIPT
                && wanted.getAsBoolean()) {
              toUnknown(request, answer);
            } else {
              answer.accept(reply);
            }
          }
        });
  }

  /** Sends a request once more on the next connection. */
  void defer(Request request) {
    pending.add(request);
  }

  /** Handles a request whose script the node does not know. */
  void toUnknown(Request request, Consumer<Object> answer) {
    ask(request.sourced(), answer);
  }

  /** Handles a request whose connection ended before its answer. */
  void toUnanswered(Request request, Consumer<Object> answer) {
    answer.accept(new NodeError(Kind.DISCONNECTED, "the connection ended"));
  }

  /** The connection ends. By any thread. */
  void cut() {
    network.schedule(0, () -> disconnect(new NodeError(Kind.UNSENT, "it ended the connection")));
  }

  void close() {
    disconnect(new NodeError(Kind.UNSENT, "it is closed"));
    state = State.CLOSED;
  }

  /** Connects unless it is or does. */
  void connect() {
    if (state != State.DOWN) {
      return;
    }
    if (!way.isOpen()) {
      failed(new NodeError(Kind.UNSENT, "it refuses connections"));
      return;
    }
    state = State.CONNECTING;
    failure = new NodeError(Kind.UNSENT, "it does not answer");
    long mine = ++connection;
    way.connected(this);
    way.examine(
        found -> {
          if (mine == connection && state == State.CONNECTING) {
            examined(found);
          }
        });
  }

  private void examined(Examined found) {
    String wrong = examiner.apply(found);
    if (!wrong.isEmpty()) {
      failed(new NodeError(Kind.MENDABLE, wrong));
      return;
    }
    state = State.UP;
    if (wasMissed) {
      LOG.log(System.Logger.Level.INFO, "{0} is back", name());
    }
    wasMissed = false;
    List<Request> now = List.copyOf(pending);
    pending.clear();
    now.forEach(this::again);
    settled.run();
  }

  private void again(Request request) {
    ask(
        request,
        answer -> {
          if (answer instanceof NodeError error && error.kind() == Kind.DISCONNECTED) {
            defer(request);
          }
        });
  }

  private void failed(NodeError why) {
    disconnect(why);
    if (!wasMissed) {
      LOG.log(System.Logger.Level.WARNING, "{0} is down: {1}", name(), why.getMessage());
    }
    wasMissed = true;
    settled.run();
  }

  private void disconnect(NodeError why) {
    if (state == State.CLOSED) {
      return;
    }
    state = State.DOWN;
    failure = why;
    connection++;
    way.disconnected(this);
    List<Unanswered> left = List.copyOf(unanswered);
    unanswered.clear();
    left.forEach(one -> toUnanswered(one.request, one.answer));
    network.schedule(RECONNECT_NANOS, this::connect);
  }
}
