package com.example.socketdriver;

import com.example.socketdriver.Resp.ErrorReply;
import dev.holdfast.redlock.Command;
import dev.holdfast.redlock.Round;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One connection, from the attempt at it to its end. One thread connects and then reads; another
 * writes, so that a node that hangs blocks nobody else.
 */
final class SocketConnection {
  private final int node;
  private final URI uri;
  private final int port;
  private final Runnable disconnected;
  private final Socket socket = new Socket();
  private final CompletableFuture<Void> connected = new CompletableFuture<>();

  /** Guarded by this: asked and not yet written; written and not yet answered. */
  private final Queue<Round> unwritten = new ArrayDeque<>();

  private final Queue<Round> unanswered = new ArrayDeque<>();
  private boolean up;
  private boolean ended;

  SocketConnection(int node, URI uri, int port, Runnable disconnected) {
    this.node = node;
    this.uri = uri;
    this.port = port;
    this.disconnected = disconnected;
  }

  CompletionStage<Void> begin(Duration timeout) {
    start("read", () -> connectAndRead(Math.toIntExact(timeout.toMillis())));
    return connected;
  }

  /** Takes a round's command, unless the connection is not there. */
  synchronized boolean ask(Round round) {
    if (!up || ended) {
      return false;
    }
    unwritten.add(round);
    notifyAll();
    return true;
  }

  /** Ends it, once. All that is not answered fails, and then the end is told. */
  void end(IOException cause) {
    List<Round> failed;
    boolean wasUp;
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
      wasUp = up;
      failed = new ArrayList<>(unanswered);
      failed.addAll(unwritten);
      notifyAll();
    }
    try {
      socket.close();
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
    connected.completeExceptionally(cause);
    failed.forEach(round -> round.failure(node, cause));
    if (wasUp) {
      disconnected.run();
    }
  }

  /** Ends it when nothing is owed any more, and at this time at the latest. */
  void close(long deadline) {
    boolean interrupted = false;
    synchronized (this) {
      long left = deadline - System.nanoTime();
      while (owes() && left > 0 && !interrupted) {
        try {
          wait(1 + left / 1_000_000);
        } catch (InterruptedException e) {
          interrupted = true;
        }
        left = deadline - System.nanoTime();
      }
    }
    end(new IOException("the manager was closed"));
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean owes() {
    return !ended && !(unanswered.isEmpty() && unwritten.isEmpty());
  }

  private void connectAndRead(int timeoutMillis) {
    try {
      socket.connect(new InetSocketAddress(uri.getHost(), port), timeoutMillis);
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(timeoutMillis);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      greet(in);
      socket.setSoTimeout(0);
      synchronized (this) {
        up = !ended;
      }
      start("write", this::write);
      connected.complete(null);
      while (true) {
        answer(Resp.read(in));
      }
    } catch (IOException e) {
      end(e);
    } catch (RuntimeException e) {
      end(new IOException("the node said what nobody understands", e));
    }
  }

  private void greet(InputStream in) throws IOException {
    String userInfo = uri.getUserInfo();
    if (userInfo != null) {
      int colon = userInfo.indexOf(':');
      String user = colon <= 0 ? "default" : userInfo.substring(0, colon);
      require(in, List.of("AUTH", user, userInfo.substring(colon + 1)));
    }
    if (uri.getPath() != null && uri.getPath().length() > 1) {
      require(in, List.of("SELECT", uri.getPath().substring(1)));
    }
    require(in, List.of("PING"));
  }

  private void require(InputStream in, List<String> words) throws IOException {
    socket.getOutputStream().write(new Command.Plain(words).encoded());
    if (Resp.read(in) instanceof ErrorReply error) {
      throw new IOException(error.text());
    }
  }

  private void answer(Object reply) throws IOException {
    Round round;
    synchronized (this) {
      round = unanswered.poll();
      notifyAll();
    }
    if (round == null) {
      throw new IOException("the node said something that it was not asked");
    }
    if (reply instanceof ErrorReply error) {
      round.error(node, error.text());
    } else {
      round.reply(node, reply);
    }
  }

  private void write() {
    try {
      OutputStream out = socket.getOutputStream();
      while (true) {
        Round round;
        synchronized (this) {
          while (unwritten.isEmpty() && !ended) {
            wait();
          }
          if (ended) {
            return;
          }
          round = unwritten.remove();
          unanswered.add(round);
        }
        out.write(round.command().encoded());
      }
    } catch (IOException e) {
      end(e);
    } catch (InterruptedException e) {
      end(new IOException("interrupted", e));
    }
  }

  private void start(String task, Runnable work) {
    Thread thread = new Thread(work, "holdfast-socket-" + task + "-" + node);
    thread.setDaemon(true);
    thread.start();
  }
}
