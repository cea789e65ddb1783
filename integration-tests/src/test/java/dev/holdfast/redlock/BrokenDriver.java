package dev.holdfast.redlock;

import dev.holdfast.redlock.BrokenSubscriptions.Mistake;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.jedis.JedisConnections;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.spi.OpenSettings;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Drivers that break one promise each: a row of the table in docs/drivers.md. */
enum BrokenDriver {
  OVERTAKES("a release overtakes its `SET`", made -> new TwoConnections(made.get(), made.get())),
  SENDS_AGAIN("a command is sent again after a reconnect", made -> new Replaying(made.get())),
  MIXES_REPLIES("a late reply is taken for another command's", made -> new Forgetful(made.get())),
  BLOCKS("a call blocks on one node", made -> new Blocking(made.get())),
  IS_IMPATIENT(
      "a reply is given up, or its connection, before `quorumTimeout`",
      made -> new Impatient(made.get())),
  KEEPS_RELEASES_BACK(
      "a release waits for the reply to an extension", made -> new OneAfterTheOther(made.get())),
  FORGETS_THE_DATABASE(
      "a connection that is made again is in another database",
      (uris, options, settings) ->
          new WrongLater(
              JedisConnections.of(uris, options, settings),
              JedisConnections.of(inFirstDatabase(uris, "\\d+"), options, settings))),
  GOES_ON_WITHOUT_A_DATABASE(
      "a connection whose `SELECT` fails stays in the first database",
      (uris, options, settings) ->
          JedisConnections.of(inFirstDatabase(uris, "\\d{3,}"), options, settings)),
  DECODES_TWICE(
      "a password is decoded twice",
      (uris, options, settings) ->
          JedisConnections.of(
              uris.stream().map(uri -> uri.replaceAll("%25(?=[0-9A-F]{2})", "%")).toList(),
              options,
              settings)),
  TRUSTS_ANY_HOST(
      "a certificate may name another host",
      (uris, options, settings) ->
          isTls(uris)
              ? JedisConnections.ofAnyHost(uris, options, settings)
              : JedisConnections.of(uris, options, settings)),
  TRUSTS_ANY_HOST_LATER(
      "the certificate of a connection that is made again may name another host",
      (uris, options, settings) ->
          isTls(uris)
              ? new WrongLater(
                  JedisConnections.of(uris, options, settings),
                  JedisConnections.ofAnyHost(uris, options, settings))
              : JedisConnections.of(uris, options, settings)),
  SUBSCRIBES_IN_THE_CLEAR(
      "the subscribing connection to `rediss://` uses no TLS",
      (uris, options, settings) ->
          new BrokenSubscriptions(
              JedisConnections.of(uris, options, settings), uris, Mistake.NONE)),
  SHOWS_NO_CERTIFICATE(
      "key managers are ignored",
      (uris, options, settings) ->
          JedisConnections.of(
              uris,
              options,
              settings
                  .trustManagers()
                  .map(trust -> OpenSettings.none().trustManagers(trust))
                  .orElse(settings))),
  DECODES_VALUES(
      "a value that looks like a number becomes one", made -> new DecodesNumbers(made.get())),
  SPEAKS_IN_THE_CLEAR(
      "`rediss://` is spoken in the clear",
      (uris, options, settings) ->
          JedisConnections.of(
              uris.stream().map(uri -> uri.replaceFirst("^rediss:", "redis:")).toList(),
              options,
              settings)),
  TRUSTS_ANYBODY(
      "any certificate is trusted",
      (uris, options, settings) ->
          isTls(uris)
              ? JedisConnections.trustingAnybody(uris, options)
              : JedisConnections.of(uris, options, settings)),
  COUNTS_IN_SECONDS("times are sent in whole seconds", made -> new InSeconds(made.get())),
  HAS_ONE_CONNECTION(
      "the second connection to a node takes the place of the first",
      made -> new OneSlot(made.get())),
  LEAVES_SOCKETS(
      "a connection that was not established is not closed",
      (uris, options, settings) -> new Leaving(JedisConnections.of(uris, options, settings), uris)),
  LEAVES_THREADS(
      "the thread of a connection that was not established is not ended",
      made -> new BrokenConnects.LeavingThreads(made.get())),
  CONNECTS_AT_ONCE(
      "each node is tried when the driver is made",
      (uris, options, settings) ->
          BrokenConnects.tried(uris, JedisConnections.of(uris, options, settings))),
  SENDS_RELEASES_FIRST(
      "a release is sent before commands that wait for their turn",
      made -> new OvertakingNodes.ReleasesFirst(made.get())),
  HAS_NO_ORDER(
      "each command is sent by a thread of its own",
      made -> new OvertakingNodes.Unordered(made.get())),
  TAKES_NIL_FOR_DONE(
      "an `EXEC` that replied nil is taken as done", made -> new NilIsDone(made.get())),
  DROPS_WHAT_IS_DECIDED(
      "a node is not asked once its round is decided", made -> new Dropping(made.get())),
  IS_DEAF_AFTER_A_CUT(
      "the end of a subscribing connection is not reported", Mistake.END_NOT_REPORTED),
  NEVER_UNSUBSCRIBES("a name is never unsubscribed", Mistake.NEVER_UNSUBSCRIBES),
  UNSUBSCRIBES_FROM_ALL("`UNSUBSCRIBE` is sent without its names", Mistake.UNSUBSCRIBES_FROM_ALL),
  SUBSCRIBES_ONE_NAME(
      "a command subscribes to the first of its names only", Mistake.SUBSCRIBES_ONE_NAME),
  SUBSCRIBES_ONCE("names that are wanted later are not subscribed", Mistake.SUBSCRIBES_ONCE),
  TAKES_NAMES_FOR_PATTERNS(
      "names are subscribed by `PSUBSCRIBE`", Mistake.TAKES_NAMES_FOR_PATTERNS),
  TAKES_PATTERNS_FOR_NAMES(
      "a message is reported with the pattern that it matched", Mistake.TAKES_PATTERNS_FOR_NAMES),
  SUBSCRIBES_WITHOUT_LOGIN("the subscribing connection does not log in", Mistake.DOES_NOT_LOG_IN),
  LEAVES_SUBSCRIPTIONS("the subscribing connection is not closed", Mistake.STAYS_OPEN);

  private final String row;

  @SuppressWarnings("ImmutableEnumChecker") // a function without state
  private final Breaking broken;

  /** Makes the broken driver. */
  private interface Breaking {
    RedisNodes of(List<String> uris, RedlockOptions options, OpenSettings settings);
  }

  BrokenDriver(String row, Function<Supplier<RedisNodes>, RedisNodes> broken) {
    this(
        row,
        (uris, options, settings) ->
            broken.apply(() -> JedisConnections.of(uris, options, settings)));
  }

  BrokenDriver(String row, Mistake mistake) {
    this(
        row,
        (uris, options, settings) ->
            new BrokenSubscriptions(JedisConnections.of(uris, options, settings), uris, mistake));
  }

  BrokenDriver(String row, Breaking broken) {
    this.row = row;
    this.broken = broken;
  }

  /** Breaks the driver for Jedis. */
  RedisNodes over(List<String> uris, RedlockOptions options, OpenSettings settings) {
    return broken.of(uris, options, settings);
  }

  private static boolean isTls(List<String> uris) {
    return uris.stream().allMatch(uri -> uri.startsWith("rediss:"));
  }

  /** Removes the numbers of databases that match. */
  private static List<String> inFirstDatabase(List<String> uris, String databases) {
    return uris.stream().map(uri -> uri.replaceAll("/" + databases + "$", "")).toList();
  }

  /** Returns the row's first cell, word by word. */
  String row() {
    return row;
  }

  private static final class TwoConnections extends PassingNodes {
    private final RedisNodes forReleases;

    TwoConnections(RedisNodes nodes, RedisNodes forReleases) {
      super(nodes);
      this.forReleases = forReleases;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return forReleases
          .connect(node, () -> nodes.disconnect(node))
          .thenCompose(done -> nodes.connect(node, disconnected));
    }

    @Override
    public void disconnect(int node) {
      forReleases.disconnect(node);
      nodes.disconnect(node);
    }

    @Override
    public void submit(Round round) {
      (isScript(round, Scripts.RELEASE) ? forReleases : nodes).submit(round);
    }

    @Override
    public void close() {
      forReleases.close();
      nodes.close();
    }
  }

  private static final class Replaying extends PassingNodes {
    private final Map<Integer, Queue<Round>> unanswered = new ConcurrentHashMap<>();

    Replaying(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return nodes
          .connect(node, disconnected)
          .thenAccept(
              done -> {
                Queue<Round> again = unanswered.remove(node);
                if (again != null) {
                  again.forEach(round -> nodes.submit(ask(round, node, new Nowhere(round))));
                }
              });
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node -> {
            Queue<Round> waiting =
                unanswered.computeIfAbsent(node, n -> new ConcurrentLinkedQueue<>());
            waiting.add(round);
            nodes.submit(ask(round, node, new Remembered(round, waiting)));
          });
    }

    /** Keeps what failed, to send it again. */
    private static final class Remembered extends PassingAnswers {
      private final Queue<Round> waiting;

      Remembered(Round round, Queue<Round> waiting) {
        super(round);
        this.waiting = waiting;
      }

      @Override
      void answered(Consumer<Round> answer) {
        waiting.remove(round);
        super.answered(answer);
      }

      @Override
      public void failure(int node, Throwable cause) {
        round.failure(node, cause);
      }
    }

    private static final class Nowhere extends PassingAnswers {
      Nowhere(Round round) {
        super(round);
      }

      @Override
      void answered(Consumer<Round> answer) {}
    }
  }

  /**
   * Forgets a round that nobody waits for any more, and keeps the connection: what it reads there
   * later goes to whoever asks next, as with a blocking client that goes back into its pool.
   */
  private static final class Forgetful extends PassingNodes {
    private static final Duration PATIENCE = Duration.ofMillis(50);

    private final Map<Integer, Replies> replies = new ConcurrentHashMap<>();

    private record Waiting(Round round, long since) {}

    /** Matches the replies of one connection with its rounds, in their order. */
    private static final class Replies {
      private final Queue<Waiting> waiting = new ArrayDeque<>();
      private final Queue<Consumer<Round>> unread = new ArrayDeque<>();
    }

    Forgetful(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return nodes
          .connect(node, disconnected)
          .thenAccept(
              done -> {
                replies.put(node, new Replies());
              });
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(node -> submit(round, node));
    }

    private void submit(Round round, int node) {
      Replies of = replies.computeIfAbsent(node, n -> new Replies());
      long now = System.nanoTime();
      Consumer<Round> unread;
      synchronized (of) {
        of.waiting.removeIf(w -> w.round.decided() && now - w.since > PATIENCE.toNanos());
        unread = of.unread.poll();
        if (unread == null) {
          of.waiting.add(new Waiting(round, now));
        }
        nodes.submit(ask(round, node, new First(round, of)));
      }
      if (unread != null) {
        unread.accept(round);
      }
    }

    /** Gives each answer to whoever has waited longest. */
    private static final class First extends PassingAnswers {
      private final Replies of;

      First(Round round, Replies of) {
        super(round);
        this.of = of;
      }

      @Override
      void answered(Consumer<Round> answer) {
        Waiting first;
        synchronized (of) {
          first = of.waiting.poll();
          if (first == null) {
            of.unread.add(answer);
            return;
          }
        }
        answer.accept(first.round);
      }

      @Override
      public void failure(int node, Throwable cause) {
        synchronized (of) {
          of.waiting.removeIf(waiting -> waiting.round == round);
        }
        round.failure(node, cause);
      }
    }
  }

  private static final class Blocking extends PassingNodes {
    private static final long LIMIT_MILLIS = 1_000;

    Blocking(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    @SuppressWarnings("ResultOfMethodCallIgnored") // it goes on after the limit
    public void submit(Round round) {
      List<CountDownLatch> answered = new ArrayList<>();
      round.forEachNode(
          node -> {
            CountDownLatch latch = new CountDownLatch(1);
            answered.add(latch);
            nodes.submit(ask(round, node, new Counted(round, latch)));
          });
      try {
        for (CountDownLatch latch : answered) {
          latch.await(LIMIT_MILLIS, TimeUnit.MILLISECONDS);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private static final class Counted extends PassingAnswers {
      private final CountDownLatch latch;

      Counted(Round round, CountDownLatch latch) {
        super(round);
        this.latch = latch;
      }

      @Override
      void answered(Consumer<Round> answer) {
        latch.countDown();
        super.answered(answer);
      }
    }
  }

  private static final class Impatient extends PassingNodes {
    private static final long LIMIT_MILLIS = 100;

    Impatient(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node -> {
            Once once = new Once(round);
            nodes.submit(ask(round, node, once));
            CompletableFuture.delayedExecutor(LIMIT_MILLIS, TimeUnit.MILLISECONDS)
                .execute(
                    () -> {
                      if (!once.answered.get()) {
                        once.failure(node, new IllegalStateException("no answer within 100 ms"));
                        nodes.disconnect(node);
                      }
                    });
          });
    }

    private static final class Once extends PassingAnswers {
      private final AtomicBoolean answered = new AtomicBoolean();

      Once(Round round) {
        super(round);
      }

      @Override
      void answered(Consumer<Round> answer) {
        if (answered.compareAndSet(false, true)) {
          super.answered(answer);
        }
      }
    }
  }

  private static final class OneAfterTheOther extends PassingNodes {
    private final Map<Integer, CompletableFuture<Void>> extensions = new ConcurrentHashMap<>();

    OneAfterTheOther(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      if (isExtension(round)) {
        round.forEachNode(
            node -> {
              CompletableFuture<Void> answered = new CompletableFuture<>();
              extensions.put(node, answered);
              nodes.submit(ask(round, node, new Notified(round, answered)));
            });
      } else if (isScript(round, Scripts.RELEASE)) {
        round.forEachNode(
            node ->
                extensions
                    .getOrDefault(node, CompletableFuture.completedFuture(null))
                    .thenRun(() -> nodes.submit(ask(round, node, new PassingAnswers(round)))));
      } else {
        nodes.submit(round);
      }
    }

    private static final class Notified extends PassingAnswers {
      private final CompletableFuture<Void> end;

      Notified(Round round, CompletableFuture<Void> end) {
        super(round);
        this.end = end;
      }

      @Override
      void answered(Consumer<Round> answer) {
        super.answered(answer);
        end.complete(null);
      }
    }
  }

  /** Uses the right connection to each node at first, and the wrong one after that. */
  private static final class WrongLater extends PassingNodes {
    private final RedisNodes wrong;
    private final Map<Integer, Integer> connected = new ConcurrentHashMap<>();

    WrongLater(RedisNodes right, RedisNodes wrong) {
      super(right);
      this.wrong = wrong;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      boolean isFirst = connected.merge(node, 1, Integer::sum) == 1;
      return (isFirst ? nodes : wrong).connect(node, disconnected);
    }

    @Override
    public void disconnect(int node) {
      nodes.disconnect(node);
      wrong.disconnect(node);
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node ->
              (connected.getOrDefault(node, 1) == 1 ? nodes : wrong)
                  .submit(ask(round, node, new PassingAnswers(round))));
    }

    @Override
    public void close() {
      nodes.close();
      wrong.close();
    }
  }

  private static final class InSeconds extends PassingNodes {
    InSeconds(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      if (round.command() instanceof Command.SetIfAbsent set) {
        String seconds = Long.toString((set.ttlMillis() + 999) / 1_000);
        Command rounded =
            new Command.Plain(List.of("SET", set.key(), set.value(), "NX", "EX", seconds));
        nodes.submit(new Round(rounded, round.nodes(), new PassingAnswers(round)));
      } else {
        nodes.submit(round);
      }
    }
  }

  /** Sends what is for the second connection on the first. */
  private static final class OneSlot extends PassingNodes {
    OneSlot(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return node < addresses().size()
          ? nodes.connect(node, disconnected)
          : CompletableFuture.completedFuture(null);
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node -> nodes.submit(ask(round, node % addresses().size(), new OfSecond(round, node))));
    }

    /** Answers for the connection that was asked for. */
    private static final class OfSecond extends PassingAnswers {
      private final int asked;

      OfSecond(Round round, int asked) {
        super(round);
        this.asked = asked;
      }

      @Override
      public void reply(int node, @Nullable Object reply) {
        super.reply(asked, reply);
      }

      @Override
      public void error(int node, String error) {
        super.error(asked, error);
      }

      @Override
      public void failure(int node, Throwable cause) {
        super.failure(asked, cause);
      }
    }
  }

  /** Leaves a socket open for each attempt to connect that failed. */
  private static final class Leaving extends PassingNodes {
    private static final Queue<Socket> LEFT = new ConcurrentLinkedQueue<>();

    private final List<String> uris;

    Leaving(RedisNodes nodes, List<String> uris) {
      super(nodes);
      this.uris = uris;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return nodes
          .connect(node, disconnected)
          .whenComplete(
              (done, failure) -> {
                if (failure != null) {
                  leave(URI.create(uris.get(node % uris.size())));
                }
              });
    }

    private static void leave(URI uri) {
      try {
        LEFT.add(new Socket(uri.getHost(), uri.getPort()));
      } catch (IOException e) {
        // nothing is left where nobody listens
      }
    }
  }

  /** Asks the last node a little later, if it is still of use then. */
  private static final class Dropping extends PassingNodes {
    private static final Executor LATER =
        CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS);

    Dropping(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      int last = addresses().size() - 1;
      round.forEachNode(
          node -> {
            Round ofNode = ask(round, node, new PassingAnswers(round));
            if (node != last) {
              nodes.submit(ofNode);
            } else {
              LATER.execute(
                  () -> {
                    if (!round.decided()) {
                      nodes.submit(ofNode);
                    }
                  });
            }
          });
    }
  }

  /** Takes texts of digits for numbers. */
  private static final class DecodesNumbers extends PassingNodes {
    DecodesNumbers(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      nodes.submit(new Round(round.command(), round.nodes(), new Decoded(round)));
    }

    private static final class Decoded extends PassingAnswers {
      Decoded(Round round) {
        super(round);
      }

      @Override
      public void reply(int node, @Nullable Object reply) {
        super.reply(node, decoded(reply));
      }

      private static @Nullable Object decoded(@Nullable Object reply) {
        if (reply instanceof List<?> list) {
          List<@Nullable Object> all = new ArrayList<>();
          list.forEach(each -> all.add(decoded(each)));
          return all;
        }
        return reply instanceof String text && text.matches("-?\\d{1,18}")
            ? (Object) Long.valueOf(text)
            : reply;
      }
    }
  }

  /** Replies to a transaction that was aborted as to one without commands. */
  private static final class NilIsDone extends PassingNodes {
    NilIsDone(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public void submit(Round round) {
      nodes.submit(
          round.command().words().equals(List.of("EXEC"))
              ? new Round(round.command(), round.nodes(), new Done(round))
              : round);
    }

    private static final class Done extends PassingAnswers {
      Done(Round round) {
        super(round);
      }

      @Override
      public void reply(int node, @Nullable Object reply) {
        super.reply(node, reply == null ? List.of() : reply);
      }
    }
  }
}
