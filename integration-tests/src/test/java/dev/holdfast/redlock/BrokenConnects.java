package dev.holdfast.redlock;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redlock.internal.nodes.SingleNodeCall;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Round;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Drivers that connect too early or in the wrong way, or leave a part of a failed connection. */
final class BrokenConnects {
  private static final Map<String, String> FIRST_LOGINS = new ConcurrentHashMap<>();

  private BrokenConnects() {}

  /** Tries whether each node is there, before it is asked to connect. */
  static RedisNodes tried(List<String> uris, RedisNodes nodes) {
    for (String uri : uris) {
      URI node = URI.create(uri);
      try (Socket socket = new Socket(node.getHost(), node.getPort())) {
        socket.getOutputStream().flush();
      } catch (IOException e) {
        // a node that is not there is found out when it is connected
      }
    }
    return nodes;
  }

  /** Looks up the address of each host, which is a mistake of the user if there is none. */
  static RedisNodes resolved(List<String> uris, RedisNodes nodes) {
    for (String uri : uris) {
      try {
        InetAddress.getByName(URI.create(uri).getHost());
      } catch (UnknownHostException e) {
        throw new LockConfigurationException("unknown host in " + uri, e);
      }
    }
    return nodes;
  }

  /** Reads from the second connections only while a command on them is unanswered. */
  static RedisNodes noticingLateOnSecond(RedisNodes nodes) {
    RedisConnections second = new NoticingLate(new PassingNodes(nodes, nodes.second()));
    return new PassingNodes(nodes) {
      @Override
      public RedisConnections second() {
        return second;
      }
    };
  }

  /** Starts a thread that ends when it is unparked, or after a minute. */
  static Thread thread(String name) {
    Thread thread = new Thread(() -> LockSupport.parkNanos(TimeUnit.MINUTES.toNanos(1)), name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** Sends a command on each first connection, and uses none on which it is refused. */
  static final class Asking extends PassingNodes {
    private final Command command;

    Asking(RedisNodes nodes, String... words) {
      super(nodes);
      this.command = new Command.Plain(List.of(words));
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return first
          .connect(node, disconnected)
          .thenCompose(done -> SingleNodeCall.ask(first, node, command))
          .thenAccept(reply -> {});
    }
  }

  /** Leaves a thread for each connection that was not made. */
  static final class LeavingThreads extends PassingNodes {
    LeavingThreads(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      Thread thread = thread("of-connection-" + node);
      return first.connect(node, disconnected).thenAccept(done -> LockSupport.unpark(thread));
    }
  }

  /** Tries no more to connect to a node after so many failures of a kind in a row. */
  static final class GivingUp extends PassingNodes {
    private final int maxFailures;
    private final Pattern kind;
    private final Map<Integer, Integer> failures = new ConcurrentHashMap<>();

    GivingUp(RedisNodes nodes, int maxFailures, String kind) {
      super(nodes);
      this.maxFailures = maxFailures;
      this.kind = Pattern.compile(kind, Pattern.DOTALL);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      if (failures.getOrDefault(node, 0) >= maxFailures) {
        return CompletableFuture.failedFuture(new IllegalStateException("it was given up"));
      }
      return first
          .connect(node, disconnected)
          .whenComplete(
              (done, failure) -> {
                if (failure == null) {
                  failures.remove(node);
                } else if (kind.matcher(failure.toString()).matches()) {
                  failures.merge(node, 1, Integer::sum);
                }
              });
    }
  }

  /** Has the node's address before the error of a login that it refused. */
  static final class NamingNodes extends PassingNodes {
    NamingNodes(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return first
          .connect(node, disconnected)
          .exceptionallyCompose(
              failure -> {
                String error = String.valueOf(failure.getMessage());
                return CompletableFuture.failedFuture(
                    error.matches("(?s).*\\b(WRONGPASS|NOAUTH)\\b.*")
                        ? new IOException(addresses().get(node) + " refuses: " + error)
                        : failure);
              });
    }
  }

  /** Has one error for all that keeps a connection from being established. */
  static final class WithoutReason extends PassingNodes {
    WithoutReason(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return first
          .connect(node, disconnected)
          .exceptionallyCompose(
              failure -> CompletableFuture.failedFuture(new IOException("no connection")));
    }
  }

  /** Leaves a server alone that has refused three connections in a row, so that it can start. */
  static final class LeavingAlone extends PassingNodes {
    private static final int MAX_REFUSED = 3;
    private static final long PAUSE = TimeUnit.MINUTES.toNanos(1);
    private static final Map<String, Queue<Long>> REFUSED = new ConcurrentHashMap<>();

    LeavingAlone(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      Queue<Long> refused =
          REFUSED.computeIfAbsent(addresses().get(node), server -> new ConcurrentLinkedQueue<>());
      refused.removeIf(at -> System.nanoTime() - at > PAUSE);
      if (refused.size() >= MAX_REFUSED) {
        return CompletableFuture.failedFuture(new IOException("it is left alone for a while"));
      }
      return first
          .connect(node, disconnected)
          .whenComplete(
              (done, failure) -> {
                if (failure == null) {
                  refused.clear();
                } else if (isRefusal(failure)) {
                  refused.add(System.nanoTime());
                }
              });
    }

    private static boolean isRefusal(@Nullable Throwable failure) {
      return failure != null
          && (failure instanceof ConnectException || isRefusal(failure.getCause()));
    }
  }

  /** Has connections of some managers to each server, in the whole process. */
  static final class Pooling extends PassingNodes {
    private static final Map<String, AtomicInteger> USED = new ConcurrentHashMap<>();

    private final int max;
    private final Map<Integer, AtomicInteger> own = new ConcurrentHashMap<>();

    Pooling(RedisNodes nodes, int max) {
      super(nodes);
      this.max = max;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      AtomicInteger used =
          USED.computeIfAbsent(addresses().get(node), server -> new AtomicInteger());
      if (own.putIfAbsent(node, used) == null && used.incrementAndGet() > max) {
        own.remove(node);
        used.decrementAndGet();
        return CompletableFuture.failedFuture(new IOException("no connection is free"));
      }
      return first.connect(node, disconnected);
    }

    @Override
    public void close() {
      super.close();
      own.values().removeIf(used -> used.decrementAndGet() >= 0);
    }
  }

  /** Shares what it needs to send with the other managers, and counts them. */
  static final class ReleasingTwice extends PassingNodes {
    private static final AtomicInteger USERS = new AtomicInteger();

    private final AtomicBoolean takes = new AtomicBoolean();

    ReleasingTwice(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return first
          .connect(node, disconnected)
          .thenRun(
              () -> {
                if (takes.compareAndSet(false, true)) {
                  USERS.incrementAndGet();
                }
              });
    }

    @Override
    public void submit(Round round) {
      if (USERS.get() > 0) {
        super.submit(round);
      } else {
        round.forEachNode(node -> round.failure(node, new IOException("no thread to write")));
      }
    }

    @Override
    public void close() {
      super.close();
      USERS.decrementAndGet();
    }
  }

  /** Has a thread for each connection, whose name says which it is. */
  static final class NamingThreads extends PassingNodes {
    private final List<String> uris;
    private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();

    NamingThreads(RedisNodes nodes, List<String> uris) {
      super(nodes);
      this.uris = uris;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      threads.add(thread("reads from " + uris.get(node % uris.size())));
      return first.connect(node, disconnected);
    }

    @Override
    public void close() {
      super.close();
      threads.forEach(LockSupport::unpark);
    }
  }

  /** Returns a node's URI with the password that was the first one for its server and user. */
  static String withFirstPassword(String uri) {
    URI node = URI.create(uri);
    String login = node.getRawUserInfo();
    if (login == null) {
      return uri;
    }
    String user = login.substring(0, login.indexOf(':') + 1);
    String first = FIRST_LOGINS.computeIfAbsent(user + "@" + node.getPort(), server -> login);
    return uri.replace("://" + login + "@", "://" + first + "@");
  }

  /** Logs how it logs in each time, except for the first. */
  static final class Logging extends PassingNodes {
    private static final System.Logger LOG = System.getLogger(Logging.class.getName());

    private final List<String> uris;
    private final Set<Integer> connected = ConcurrentHashMap.newKeySet();

    Logging(RedisNodes nodes, List<String> uris) {
      super(nodes);
      this.uris = uris;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      if (!connected.add(node)) {
        String login = URI.create(uris.get(node % uris.size())).getUserInfo();
        LOG.log(System.Logger.Level.TRACE, "again: {0}", login);
      }
      return first.connect(node, disconnected);
    }
  }

  /** Connects to no node whose connections have ended so many times. */
  static final class LeavingOut extends PassingNodes {
    private final int mostEnds;
    private final Map<Integer, Integer> ends = new ConcurrentHashMap<>();

    LeavingOut(RedisNodes nodes, int mostEnds) {
      super(nodes);
      this.mostEnds = mostEnds;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      if (ends.getOrDefault(node, 0) >= mostEnds) {
        return CompletableFuture.failedFuture(new IllegalStateException("it is left out"));
      }
      return first.connect(
          node,
          () -> {
            ends.merge(node, 1, Integer::sum);
            disconnected.run();
          });
    }
  }

  /** Reports the error of the first node that could not be connected for each node after it. */
  static final class SharingErrors extends PassingNodes {
    private final AtomicReference<@Nullable Throwable> error = new AtomicReference<>();

    SharingErrors(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      CompletableFuture<Void> shared = new CompletableFuture<>();
      first
          .connect(node, disconnected)
          .whenComplete(
              (done, failure) -> {
                if (failure == null) {
                  shared.complete(null);
                } else {
                  error.compareAndSet(null, failure);
                  shared.completeExceptionally(error.get());
                }
              });
      return shared;
    }
  }

  /** Begins to connect to a node when the connection before it has been made or has failed. */
  static final class OneAfterTheOther extends PassingNodes {
    private CompletableFuture<?> last = CompletableFuture.completedFuture(null);

    OneAfterTheOther(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public synchronized CompletableFuture<Void> connect(int node, Runnable disconnected) {
      CompletableFuture<Void> next =
          last.handle((done, failure) -> null)
              .thenCompose(done -> first.connect(node, disconnected));
      last = next;
      return next;
    }
  }

  /** Takes the second connections from other nodes. */
  static final class OtherSecond extends PassingNodes {
    private final RedisNodes others;
    private final boolean closesBoth;

    OtherSecond(RedisNodes nodes, RedisNodes others, boolean closesBoth) {
      super(nodes);
      this.others = others;
      this.closesBoth = closesBoth;
    }

    @Override
    public RedisConnections second() {
      return new PassingNodes(others, others.second()) {
        @Override
        public void disconnect(int node) {
          if (closesBoth) {
            super.disconnect(node);
          }
        }
      };
    }

    @Override
    public void close() {
      super.close();
      if (closesBoth) {
        others.close();
      }
    }
  }

  /** Shows the login when a connection ends at its login, or when that fails for the node. */
  static final class Showing extends PassingNodes {
    private final List<String> uris;

    Showing(RedisNodes nodes, List<String> uris) {
      super(nodes);
      this.uris = uris;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      CompletableFuture<Void> shown = new CompletableFuture<>();
      first
          .connect(node, disconnected)
          .whenComplete(
              (done, failure) -> {
                String login = URI.create(uris.get(node % uris.size())).getUserInfo();
                if (failure == null) {
                  shown.complete(null);
                } else if (String.valueOf(failure).matches("(?s).*(WRONGPASS|refused).*")) {
                  shown.completeExceptionally(failure);
                } else {
                  shown.completeExceptionally(new IOException("not taken: AUTH " + login, failure));
                }
              });
      return shown;
    }
  }

  /** Uses the right connection to each node at first, and the wrong one after that. */
  static final class WrongLater extends PassingNodes {
    private final RedisNodes wrong;
    private final Map<Integer, Integer> connected = new ConcurrentHashMap<>();

    WrongLater(RedisNodes right, RedisNodes wrong) {
      super(right);
      this.wrong = wrong;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      boolean isFirst = connected.merge(node, 1, Integer::sum) == 1;
      return (isFirst ? first : wrong.first()).connect(node, disconnected);
    }

    @Override
    public void disconnect(int node) {
      first.disconnect(node);
      wrong.first().disconnect(node);
    }

    @Override
    public void submit(Round round) {
      round.forEachNode(
          node ->
              (connected.getOrDefault(node, 1) == 1 ? first : wrong.first())
                  .submit(ask(round, node, new PassingAnswers(round))));
    }

    @Override
    public void close() {
      nodes.close();
      wrong.close();
    }
  }

  /** Leaves a socket open for each attempt to connect that failed. */
  static final class Leaving extends PassingNodes {
    private static final Queue<Socket> LEFT = new ConcurrentLinkedQueue<>();

    private final List<String> uris;

    Leaving(RedisNodes nodes, List<String> uris) {
      super(nodes);
      this.uris = uris;
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      return first
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
        // nothing is left where no process listens
      }
    }
  }

  /** Reads from a connection only while a command on it is unanswered. */
  static final class NoticingLate extends PassingNodes {
    /** The connections that ended while nothing was asked, by node. */
    private final Map<Integer, Runnable> ended = new ConcurrentHashMap<>();

    NoticingLate(RedisNodes nodes) {
      super(nodes);
    }

    @Override
    public CompletableFuture<Void> connect(int node, Runnable disconnected) {
      ended.remove(node);
      return first.connect(node, () -> ended.put(node, disconnected));
    }

    @Override
    public void submit(Round round) {
      first.submit(ask(round, new Noticed(round)));
    }

    private final class Noticed extends PassingAnswers {
      Noticed(Round round) {
        super(round);
      }

      @Override
      public void failure(int node, Throwable cause) {
        super.failure(node, cause);
        Optional.ofNullable(ended.remove(node)).ifPresent(CompletableFuture::runAsync);
      }
    }
  }
}
