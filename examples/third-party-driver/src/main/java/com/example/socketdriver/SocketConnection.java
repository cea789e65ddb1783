package com.example.socketdriver;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.CommandConnection;
import dev.holdfast.redlock.spi.CommandWriter;
import dev.holdfast.redlock.spi.DriverThreads;
import dev.holdfast.redlock.spi.EncodedRound;
import dev.holdfast.redlock.spi.ReplyReader;
import dev.holdfast.redlock.spi.ReplyReader.ErrorReply;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A socket that serves commands. One thread connects and then reads, and another writes, so that a
 * node that hangs blocks nothing else. The writing thread ends when it is idle.
 */
final class SocketConnection implements CommandWriter<byte[]> {
  private final RedisNodeUri uri;
  private final CommandConnection<byte[]> commands;
  private final Socket socket = new Socket();
  private final ReplyReader replies = new ReplyReader();
  private final ThreadPoolExecutor writer =
      new ThreadPoolExecutor(
          1,
          1,
          100,
          TimeUnit.MILLISECONDS,
          new LinkedBlockingQueue<>(),
          DriverThreads.named("holdfast-socket-write"));

  SocketConnection(RedisNodeUri uri, CommandConnection<byte[]> commands) {
    this.uri = uri;
    this.commands = commands;
    writer.allowCoreThreadTimeOut(true);
  }

  void begin(Duration timeout) {
    commands.onBegun(this);
    int millis = Math.max(1, Math.toIntExact(timeout.toMillis())); // 0 would be no limit
    DriverThreads.named("holdfast-socket-read").newThread(() -> connectAndRead(millis)).start();
  }

  @Override
  public Executor executor() {
    return writer;
  }

  @Override
  public void write(List<EncodedRound<byte[]>> rounds) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (EncodedRound<byte[]> round : rounds) {
      bytes.write(round.command());
    }
    bytes.writeTo(socket.getOutputStream());
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // it is closed anyway
    }
    commands.onEnded();
  }

  private void connectAndRead(int timeoutMillis) {
    try {
      socket.connect(new InetSocketAddress(uri.host(), uri.port()), timeoutMillis);
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(timeoutMillis);
      greet();
      socket.setSoTimeout(0);
      commands.onConnected();
      while (true) {
        answer(read());
      }
    } catch (IOException | RuntimeException e) {
      commands.onEnded(e);
    }
  }

  private void greet() throws IOException {
    if (uri.password() != null) {
      String user = uri.user() == null ? "default" : uri.user();
      require(List.of("AUTH", user, uri.password()));
    }
    if (uri.database() != 0) {
      require(List.of("SELECT", Integer.toString(uri.database())));
    }
    require(List.of("PING"));
  }

  private void require(List<String> words) throws IOException {
    socket.getOutputStream().write(new Command.Plain(words).encoded());
    if (read() instanceof ErrorReply error) {
      throw new IOException(error.text());
    }
  }

  private Object read() throws IOException {
    while (!replies.hasNext()) {
      replies.receive(socket.getInputStream());
    }
    return replies.next();
  }

  private void answer(Object reply) throws IOException {
    EncodedRound<byte[]> round = commands.next();
    if (round == null) {
      throw new IOException("the node said something that it was not asked");
    }
    if (reply instanceof ErrorReply error) {
      commands.onError(round, error.text());
    } else {
      commands.onReply(round, reply);
    }
  }
}
