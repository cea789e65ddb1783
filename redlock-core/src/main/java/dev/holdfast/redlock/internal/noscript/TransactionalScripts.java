package dev.holdfast.redlock.internal.noscript;

import dev.holdfast.redlock.internal.nodes.SingleNodeCall;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.Command.Eval;
import dev.holdfast.redlock.spi.Command.SetIfAbsent;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The scripts as transactions of one node: {@code WATCH}, {@code GET}, {@code MULTI} and {@code
 * EXEC} on the second connection. A release is one command on the first connection, if the node has
 * such a command. An {@code EXEC} ends every {@code WATCH} of its connection, so there is one
 * transaction at a time. The commands for one key are sent one after the other, because over two
 * connections a release could otherwise overtake the SET before it.
 */
final class TransactionalScripts {
  /**
   * Maximum number of transactions for one command. A key that changes under each of them is
   * another owner's by now.
   */
  private static final int MAX_TRIES = 3;

  private final RedisConnections first;
  private final RedisConnections second;
  private final int node;
  private final ConditionalDelete deletion;
  private final Map<String, Queue<Round>> keys = new HashMap<>();

  /** One reason for all commands that fail after the end, because there may be thousands. */
  private final Exception end = new IllegalStateException("the connection ended");

  private CompletableFuture<?> last = CompletableFuture.completedFuture(null);
  private boolean ended;

  /** Connects nothing. */
  TransactionalScripts(RedisNodes nodes, int node) {
    this.first = nodes.first();
    this.second = nodes.second();
    this.node = node;
    this.deletion = new ConditionalDelete(first, node);
  }

  /** Runs a round that is for this node alone. */
  void submit(Round round) {
    String key = keyOf(round.command());
    if (key == null) {
      first.submit(round);
      return;
    }
    synchronized (this) {
      Queue<Round> waiting = keys.get(key);
      if (waiting != null) {
        waiting.add(round);
        return;
      }
      if (!ended) {
        keys.put(key, new ArrayDeque<>());
      }
    }
    start(key, round);
  }

  /**
   * Ends the transactions because a connection has ended. Commands in flight fail by themselves,
   * and no other is sent.
   */
  void end() {
    List<Round> waiting;
    synchronized (this) {
      ended = true;
      waiting = keys.values().stream().flatMap(Queue::stream).toList();
      keys.clear();
    }
    waiting.forEach(round -> round.failure(node, end));
  }

  private void start(String key, Round round) {
    CompletableFuture<@Nullable Object> answer;
    if (round.command() instanceof Eval eval) {
      answer = isDeletion(eval) ? delete(eval) : inTurn(eval);
    } else {
      answer = ask(first, round.command());
    }
    answer.whenComplete(
        (reply, failure) -> {
          String error = SingleNodeCall.errorOf(failure);
          Throwable cause = SingleNodeCall.causeOf(failure);
          // the next one first: the reaction to this answer may be for the same key
          next(key);
          if (error != null) {
            round.error(node, error);
          } else if (cause != null) {
            round.failure(node, cause);
          } else {
            round.reply(node, reply);
          }
        });
  }

  private void next(String key) {
    Round next;
    synchronized (this) {
      Queue<Round> waiting = keys.get(key);
      next = waiting == null ? null : waiting.poll();
      if (waiting != null && next == null) {
        keys.remove(key);
      }
    }
    if (next != null) {
      start(key, next);
    }
  }

  private static boolean isDeletion(Eval eval) {
    return eval.script().equals(Scripts.RELEASE);
  }

  private CompletableFuture<@Nullable Object> delete(Eval eval) {
    return deletion
        .run(eval.keys().get(0), eval.arguments().get(0))
        .thenCompose(
            code ->
                code == null
                    ? inTurn(eval)
                    : CompletableFuture.completedFuture(unpublishedIfNotifying(eval, code)));
  }

  private synchronized CompletableFuture<@Nullable Object> inTurn(Eval eval) {
    CompletableFuture<@Nullable Object> done =
        last.handle((any, failure) -> eval).thenCompose(this::run);
    last = done;
    return done;
  }

  private CompletableFuture<@Nullable Object> run(Eval eval) {
    String key = eval.keys().get(0);
    List<String> arguments = eval.arguments();
    if (eval.script().equals(Scripts.RELEASE)) {
      return release(key, arguments.get(0), MAX_TRIES)
          .thenApply(code -> unpublishedIfNotifying(eval, code));
    }
    if (eval.script().equals(Scripts.KEEP)) {
      return keep(
          key,
          arguments.get(0),
          Long.parseLong(arguments.get(1)),
          arguments.get(2).equals("1"),
          MAX_TRIES);
    }
    if (Scripts.SWAP.is(eval.script())) {
      return swap(key, arguments.get(0), arguments.get(1), arguments.get(2));
    }
    if (Scripts.EXTEND.is(eval.script()) || Scripts.PROLONG.is(eval.script())) {
      boolean putsBack = Scripts.EXTEND.is(eval.script());
      return extend(key, arguments.get(0), Long.parseLong(arguments.get(1)), putsBack);
    }
    return eval.script().equals(Scripts.INSPECT) ? inspect(key) : remove(key, MAX_TRIES);
  }

  /**
   * Replaces the reply to a release that notifies waiters: only the script publishes, so no waiter
   * is notified.
   */
  private static @Nullable Object unpublishedIfNotifying(Eval eval, @Nullable Object code) {
    boolean notifies = eval.arguments().size() > 1;
    return notifies && Objects.equals(code, Scripts.MINE) ? Scripts.MINE_UNPUBLISHED : code;
  }

  private CompletableFuture<@Nullable Object> release(String key, String token, int tries) {
    return compare(key, token, ttl -> exec("DEL", key), () -> unwatch(Scripts.MISSING), tries);
  }

  private CompletableFuture<@Nullable Object> keep(
      String key, String token, long life, boolean mayLengthen, int tries) {
    return compare(
        key,
        token,
        ttl ->
            mayLengthen || ttl > life
                ? exec("PEXPIRE", key, Long.toString(life))
                : unwatch(Scripts.MINE),
        () -> unwatch(Scripts.MISSING),
        tries);
  }

  private CompletableFuture<@Nullable Object> extend(
      String key, String token, long ttl, boolean putsBack) {
    String millis = Long.toString(ttl);
    return compare(
        key,
        token,
        present -> present < ttl ? exec("PEXPIRE", key, millis) : unwatch(Scripts.MINE),
        () ->
            putsBack
                ? ask("SET", key, token, "NX", "PX", millis)
                    .thenCompose(done -> unwatch(Scripts.MISSING))
                : unwatch(Scripts.MISSING),
        MAX_TRIES);
  }

  private CompletableFuture<@Nullable Object> swap(
      String key, String token, String ttl, String transferred) {
    return compare(
        key,
        transferred,
        present -> exec("SET", key, token, "PX", ttl),
        () -> unwatch(Scripts.MISSING),
        MAX_TRIES);
  }

  private CompletableFuture<@Nullable Object> compare(
      String key,
      String token,
      LongFunction<CompletableFuture<@Nullable Object>> ifMine,
      Supplier<CompletableFuture<@Nullable Object>> ifMissing,
      int tries) {
    CompletableFuture<@Nullable Object> watching = ask("WATCH", key);
    // first, because a key that is ours afterwards was so then
    CompletableFuture<@Nullable Object> ttl = ask("PTTL", key);
    CompletableFuture<@Nullable Object> value = ask("GET", key);
    return CompletableFuture.allOf(watching, ttl, value)
        .handle(
            (done, failure) -> {
              if (failure != null) {
                return unwatch(Scripts.OTHER)
                    .thenCompose(
                        unwatched -> CompletableFuture.<@Nullable Object>failedFuture(failure));
              }
              Object found = value.join();
              if (found == null) {
                return ifMissing.get();
              }
              if (!found.equals(token) || !(ttl.join() instanceof Long left)) {
                return unwatch(Scripts.OTHER);
              }
              return orAgain(
                  ifMine.apply(left),
                  tries,
                  () -> compare(key, token, ifMine, ifMissing, tries - 1));
            })
        .thenCompose(next -> next);
  }

  /** Runs another transaction if the key has changed under this one. */
  private static CompletableFuture<@Nullable Object> orAgain(
      CompletableFuture<@Nullable Object> transaction,
      int tries,
      Supplier<CompletableFuture<@Nullable Object>> again) {
    return transaction.thenCompose(
        code -> {
          if (code != null) {
            return CompletableFuture.completedFuture(code);
          }
          return tries > 1
              ? again.get()
              : SingleNodeCall.failed("ERR the key changed under each transaction");
        });
  }

  /**
   * Runs one command in a transaction. Waits for the reply to {@code MULTI}: if it is refused, the
   * command would run outside of a transaction.
   *
   * @return completes with the script's code, or null if the key has changed since it was watched
   */
  private CompletableFuture<@Nullable Object> exec(String... words) {
    return ask("MULTI")
        .thenCompose(
            begun -> {
              CompletableFuture<@Nullable Object> queued = ask(words);
              CompletableFuture<@Nullable Object> done = ask("EXEC");
              return queued.thenCompose(any -> done);
            })
        .thenApply(
            reply -> {
              if (!(reply instanceof List<?> results)) {
                return null;
              }
              return results.contains(0L) ? Scripts.MISSING : Scripts.MINE;
            });
  }

  private CompletableFuture<@Nullable Object> unwatch(long code) {
    return ask("UNWATCH").thenApply(done -> code);
  }

  private CompletableFuture<@Nullable Object> remove(String key, int tries) {
    ask("WATCH", key);
    return ask("TYPE", key)
        .thenCompose(
            kind -> {
              if ("none".equals(kind)) {
                return unwatch(Scripts.MISSING);
              }
              return "string".equals(kind)
                  ? orAgain(exec("DEL", key), tries, () -> remove(key, tries - 1))
                  : unwatch(Scripts.OTHER)
                      .thenCompose(done -> SingleNodeCall.failed("WRONGTYPE it is no lock"));
            });
  }

  private CompletableFuture<@Nullable Object> inspect(String key) {
    CompletableFuture<@Nullable Object> kind = ask("TYPE", key);
    CompletableFuture<@Nullable Object> value = ask("GET", key);
    CompletableFuture<@Nullable Object> ttl = ask("PTTL", key);
    return value
        .exceptionallyCompose(
            failure -> {
              String error = SingleNodeCall.errorOf(failure);
              return error != null && error.startsWith("WRONGTYPE")
                  ? CompletableFuture.completedFuture("")
                  : CompletableFuture.failedFuture(failure);
            })
        .thenCombine(ttl, (text, left) -> List.of(kind.join(), text == null ? "" : text, left));
  }

  private CompletableFuture<@Nullable Object> ask(String... words) {
    return ask(second, new Command.Plain(List.of(words)));
  }

  /**
   * Sends a command, but never on a later connection: that watches no key, and another transaction
   * may run there.
   */
  private synchronized CompletableFuture<@Nullable Object> ask(
      RedisConnections connections, Command command) {
    return ended
        ? CompletableFuture.failedFuture(end)
        : SingleNodeCall.ask(connections, node, command);
  }

  private static @Nullable String keyOf(Command command) {
    if (command instanceof SetIfAbsent set) {
      return set.key();
    }
    return command instanceof Eval eval && !eval.keys().isEmpty() ? eval.keys().get(0) : null;
  }
}
