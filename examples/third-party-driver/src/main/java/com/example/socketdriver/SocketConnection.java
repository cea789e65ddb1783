package com.example.socketdriver;

import com.example.socketdriver.Resp.ErrorReply;
import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.CommandPipeline;
import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.Round;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One connection, from the attempt at it to its end. One thread connects and then reads; another
 * writes, so that a node that hangs blocks nobody else.
 */
final class SocketConnection {
  private final RedisNodeUri uri;
  private final Runnable disconnected;
  private final Socket socket = new Socket();
  private final ExecutorService writer =
      Executors.newSingleThreadExecutor(DriverThreads.named("holdfast-socket-write"));
  private final CommandPipeline<Round> commands;
  private final CompletableFuture<Void> connected = new CompletableFuture<>();
  private final AtomicBoolean ended = new AtomicBoolean();

  SocketConnection(int node, RedisNodeUri uri, Runnable disconnected) {
    this.uri = uri;
    this.disconnected = disconnected;
    this.commands = new CommandPipeline<>(node, round -> round, writer, this::write);
  }

  CompletableFuture<Void> begin(Duration timeout) {
    int millis = Math.toIntExact(timeout.toMillis());
    DriverThreads.named("holdfast-socket-read").newThread(() -> connectAndRead(millis)).start();
    return connected;
  }

  /** Sends a round's command, which fails if the connection is not there. */
  void ask(Round round) {
    commands.add(round);
    commands.flush();
  }

  /** Ends it, once. All that is not answered fails, and then the end is told. */
  void end(IOException cause) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      socket.close();
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
    connected.completeExceptionally(cause); // which changes nothing if it was made
    commands.end(cause, this::onAllFailed);
  }

  private void onAllFailed() {
    if (!connected.isCompletedExceptionally()) {
      disconnected.run();
    }
    writer.shutdown();
  }

  /** Ends it when all that was asked before has been written. */
  CompletableFuture<Void> close() {
    IOException cause = new IOException("the manager was closed");
    try {
      return CompletableFuture.runAsync(() -> end(cause), writer);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.completedFuture(null); // it has ended
    }
  }

  private void connectAndRead(int timeoutMillis) {
    try {
      socket.connect(new InetSocketAddress(uri.host(), uri.port()), timeoutMillis);
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(timeoutMillis);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      greet(in);
      socket.setSoTimeout(0);
      commands.open();
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
    if (uri.password() != null) {
      String user = uri.user() == null ? "default" : uri.user();
      require(in, List.of("AUTH", user, uri.password()));
    }
    if (uri.database() != 0) {
      require(in, List.of("SELECT", Integer.toString(uri.database())));
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
    Round round = commands.next();
    if (round == null) {
      throw new IOException("the node said something that it was not asked");
    }
    if (reply instanceof ErrorReply error) {
      commands.onError(round, error.text());
    } else {
      commands.onReply(round, reply);
    }
  }

  private void write(List<Round> rounds) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      for (Round round : rounds) {
        bytes.write(round.command().encoded());
      }
      bytes.writeTo(socket.getOutputStream());
    } catch (IOException e) {
      end(e);
    }
  }
}
