package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.internal.guard.GuardTerms;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.PubSubConnection;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Subscription;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A fake driver: keeps what it is asked until the test answers, in any order and at any time, which
 * no real server does on demand. It knows nothing of Redis.
 */
public final class ScriptedNodes implements RedisNodes, RedisConnections {
  private final List<String> addresses;
  private final List<Asked> asked = new ArrayList<>();
  private final List<Asked> notified = new ArrayList<>();
  private final Map<Integer, List<ScriptedSubscription>> subscriptions = new HashMap<>();
  private final @Nullable Runnable[] disconnected;
  private final RedisConnections second = new Second(this);
  private final List<Integer> connects = new ArrayList<>();
  private final List<Integer> disconnects = new ArrayList<>();
  private final String[] infos;
  private final @Nullable Throwable[] unreachable;
  private final Map<Integer, CompletableFuture<Void>> connecting = new HashMap<>();
  private final Map<Integer, Error> mute = new HashMap<>();
  private final Set<Integer> ending = new HashSet<>();
  private final @Nullable String[] firstErrors;
  private boolean scripts = true;
  private boolean conditionalDelete;
  private boolean keepsTaught;
  private boolean closed;
  private @Nullable Error closeFailure;
  private Runnable beforeConnecting = () -> {};
  private Runnable beforeDisconnecting = () -> {};
  private Consumer<Round> beforeSubmitting = round -> {};

  /** A command that a node was asked and the test has not answered yet. */
  public record Asked(int node, Round round) {
    public String name() {
      return round.command().words().get(0);
    }

    public Command command() {
      return round.command();
    }
  }

  public ScriptedNodes(int size) {
    this(IntStream.rangeClosed(1, size).mapToObj(i -> "h" + i + ":6379").toList());
  }

  ScriptedNodes(List<String> addresses) {
    this.addresses = addresses;
    int size = addresses.size();
    disconnected = new Runnable[2 * size];
    infos = new String[size];
    unreachable = new Throwable[2 * size];
    firstErrors = new String[size];
    for (int node = 0; node < size; node++) {
      infos[node] = "run_id:r" + node + "\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n";
    }
  }

  /** Their user may run none. */
  public ScriptedNodes withoutScripts() {
    scripts = false;
    return this;
  }

  /** They know DELEX and DELIFEQ, as Redis 8.4 and Valkey 9 know one of them: both are asked. */
  public ScriptedNodes withConditionalDelete() {
    conditionalDelete = true;
    return this;
  }

  public void info(int node, String info) {
    infos[node] = info;
  }

  public void unreachable(int node, @Nullable Throwable cause) {
    unreachable[node] = cause;
  }

  /** Sets the failure of each later attempt to subscribe at a node, or null for none. */
  public void cannotSubscribe(int node, @Nullable Error failure) {
    mute.compute(node, (n, before) -> failure);
  }

  /** A driver that can make no connection for subscriptions to a node, and says so at once. */
  public void endsSubscriptions(int node) {
    ending.add(node);
  }

  /** A node that takes connections, and then says nothing. */
  public void silent(int node) {
    connecting(node, new CompletableFuture<>());
  }

  /** Sets the future of each later attempt to connect to a node. */
  public void connecting(int node, CompletableFuture<Void> made) {
    connecting.put(node, made);
  }

  /** Sets the error of a node when it has been connected and runs its first script. */
  public void firstError(int node, String error) {
    firstErrors[node] = error;
  }

  /** Sets whether scripts that are loaded without a lock are kept until the test answers. */
  public void keepTaughtScripts(boolean keeps) {
    keepsTaught = keeps;
  }

  /** Sets a task that each call to connect runs before it returns. */
  void beforeConnecting(Runnable task) {
    beforeConnecting = task;
  }

  /** Sets a task that each call to disconnect runs before it drops anything. */
  public void beforeDisconnecting(Runnable task) {
    beforeDisconnecting = task;
  }

  /** Sets a task that gets each round before the nodes do. */
  public void beforeSubmitting(Consumer<Round> task) {
    beforeSubmitting = task;
  }

  public List<Integer> connects() {
    return connects;
  }

  public List<Integer> disconnects() {
    return disconnects;
  }

  public boolean isClosed() {
    return closed;
  }

  /** Takes the scripts that were loaded without a lock, which were answered at once. */
  public List<Asked> notified() {
    List<Asked> taken = List.copyOf(notified);
    notified.clear();
    return taken;
  }

  /** Returns the commands that are not taken yet. */
  public List<Asked> pending() {
    return List.copyOf(asked);
  }

  /** Returns the words of each command that is not taken yet. */
  public List<String> pendingWords() {
    return asked.stream().map(a -> String.join(" ", a.command().words())).toList();
  }

  /** Takes the pending commands, and replies to each in order. */
  public void replyInTurn(@Nullable Object... replies) {
    List<Asked> taken = take();
    assertThat(taken).hasSize(replies.length);
    for (int i = 0; i < replies.length; i++) {
      taken.get(i).round().reply(taken.get(i).node(), replies[i]);
    }
  }

  /** Takes what was asked since the last call. */
  public List<Asked> take() {
    List<Asked> taken = List.copyOf(asked);
    asked.clear();
    return taken;
  }

  /** Takes what was asked, and answers for each node as the test says. */
  public void answer(Consumer<Asked> answer) {
    take().forEach(answer);
  }

  /** Every node answers every command, now and until nothing more is asked. */
  public void answerAll(Consumer<Asked> answer) {
    while (!asked.isEmpty()) {
      answer(answer);
    }
  }

  public void breakConnection(int node) {
    List<Asked> lost = asked.stream().filter(a -> a.node() == node).toList();
    asked.removeAll(lost);
    Runnable ended = disconnected[node];
    disconnected[node] = null;
    lost.forEach(a -> a.round().failure(node, new IllegalStateException("connection reset")));
    if (ended != null) {
      ended.run();
    }
  }

  @Override
  public List<String> addresses() {
    return addresses;
  }

  @Override
  public CompletableFuture<Void> connect(int node, Runnable whenDisconnected) {
    connects.add(node);
    beforeConnecting.run();
    Throwable cause = unreachable[node];
    if (cause != null) {
      return CompletableFuture.failedFuture(cause);
    }
    disconnected[node] = whenDisconnected;
    return connecting.getOrDefault(node, CompletableFuture.completedFuture(null));
  }

  @Override
  public void disconnect(int node) {
    disconnects.add(node);
    beforeDisconnecting.run();
    breakConnection(node);
  }

  @Override
  public RedisConnections first() {
    return this;
  }

  /** The second connections, which tests know by the indexes above those of the nodes. */
  @Override
  public RedisConnections second() {
    return second;
  }

  private record Second(ScriptedNodes nodes) implements RedisConnections {
    @Override
    public CompletableFuture<Void> connect(int node, Runnable whenDisconnected) {
      return nodes.connect(index(node), whenDisconnected);
    }

    @Override
    public void disconnect(int node) {
      nodes.disconnect(index(node));
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node ->
              nodes.submit(
                  new Round(
                      round.command(), NodeSet.of(index(node)), new AnswersFor(node, round))));
    }

    private int index(int node) {
      return nodes.addresses.size() + node;
    }
  }

  private record AnswersFor(int node, Round round) implements Round.Answers {
    @Override
    public void reply(int index, @Nullable Object reply) {
      round.reply(node, reply);
    }

    @Override
    public void error(int index, String error) {
      round.error(node, error);
    }

    @Override
    public void failure(int index, Throwable cause) {
      round.failure(node, cause);
    }

    @Override
    public boolean isDecided() {
      return round.isDecided();
    }
  }

  @Override
  public void submit(Round round) {
    beforeSubmitting.accept(round);
    if (round.command() instanceof Command.Info) {
      round.forEachNode(node -> round.reply(node, infos[node]));
    } else if (round.command() instanceof Command.Eval eval && isFirst(eval) && !keepsTaught) {
      round.forEachNode(
          node -> {
            notified.add(new Asked(node, round));
            String error = firstErrors[node];
            if (error != null) {
              round.error(node, error);
            } else if (scripts) {
              round.reply(node, 1L);
            } else {
              round.error(node, "NOPERM this user has no permissions to run the 'eval' command");
            }
          });
    } else if (!conditionalDelete && isConditionalDelete(round.command().words())) {
      String word = round.command().words().get(0);
      round.forEachNode(node -> round.error(node, "ERR unknown command '" + word + "'"));
    } else {
      round.forEachNode(
          node -> {
            if (!conditionalDelete && isLookBefore(node, round.command())) {
              round.reply(node, null);
            } else if (disconnected[node] == null) {
              round.failure(node, new IllegalStateException("not connected"));
            } else {
              asked.add(new Asked(node, round));
            }
          });
    }
  }

  private static boolean isConditionalDelete(List<String> words) {
    return Set.of("DELEX", "DELIFEQ").contains(words.get(0));
  }

  /** The GET before a conditional DEL: those of transactions are on the second connection. */
  private boolean isLookBefore(int node, Command command) {
    return node < addresses().size() && command.words().get(0).equals("GET");
  }

  /** Tells whether a command teaches a node a script, before any lock is asked for. */
  private static boolean isFirst(Command.Eval eval) {
    return eval.withSource()
        && (eval.keys().isEmpty() || eval.keys().equals(List.of(GuardTerms.KEY)));
  }

  /** Has nodes grant a lock. */
  static void grant(List<Asked> asked, int... voters) {
    for (int node : voters) {
      asked.get(node).round().reply(node, "OK");
    }
  }

  /** Has nodes refuse a lock that another owner holds there. */
  static void refuse(List<Asked> asked, int... voters) {
    for (int node : voters) {
      asked.get(node).round().reply(node, null);
    }
  }

  /** A connection that listens, from the first call to its end. */
  public static final class ScriptedSubscription implements PubSubConnection {
    public final Subscription subscription;
    public final Set<String> channels = new TreeSet<>();
    @Nullable public String always;
    public boolean closed;

    ScriptedSubscription(Subscription subscription) {
      this.subscription = subscription;
    }

    public void breakOff() {
      subscription.onEnded();
    }

    @Override
    public void subscribe(List<String> names) {
      channels.addAll(names);
      if (always == null) {
        always = names.get(0);
        channels.remove(always);
      }
      names.forEach(subscription::onAnswered);
    }

    @Override
    public void unsubscribe(List<String> names) {
      names.forEach(channels::remove);
      names.forEach(subscription::onAnswered);
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  @Override
  public void subscribe(int node, Subscription subscription) {
    Error failure = mute.get(node);
    if (failure != null) {
      throw failure;
    }
    if (ending.remove(node)) {
      subscription.close();
      subscription.onEnded();
      return;
    }
    ScriptedSubscription made = new ScriptedSubscription(subscription);
    subscriptions.computeIfAbsent(node, n -> new ArrayList<>()).add(made);
    subscription.onConnected(made);
  }

  /** The last one at a node, or null before the first subscription. */
  @Nullable
  public ScriptedSubscription subscription(int node) {
    List<ScriptedSubscription> all = subscriptions.getOrDefault(node, List.of());
    return all.isEmpty() ? null : all.get(all.size() - 1);
  }

  /** How often a subscription to a node was begun. */
  public int subscriptions(int node) {
    return subscriptions.getOrDefault(node, List.of()).size();
  }

  @Override
  public <T> Optional<T> unwrap(Class<T> type) {
    return type.isInstance(this) ? Optional.of(type.cast(this)) : Optional.empty();
  }

  void failingToClose(Error failure) {
    closeFailure = failure;
  }

  @Override
  public void close() {
    closed = true;
    if (closeFailure != null) {
      throw closeFailure;
    }
  }
}
