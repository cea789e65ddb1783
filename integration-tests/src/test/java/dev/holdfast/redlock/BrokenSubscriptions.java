package dev.holdfast.redlock;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.PubSubConnection;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.redlock.spi.Subscription;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** A driver whose subscribing connections are made on plain sockets, and make one mistake. */
final class BrokenSubscriptions extends PassingNodes {
  private final List<String> uris;
  private final Mistake mistake;
  private final Queue<Connection> connections = new ConcurrentLinkedQueue<>();

  /** Whether all is right, or what is wrong. */
  enum Mistake {
    NONE,
    END_NOT_REPORTED,
    NEVER_UNSUBSCRIBES,
    UNSUBSCRIBES_FROM_ALL,
    SUBSCRIBES_ONE_NAME,
    TAKES_NAMES_FOR_PATTERNS,
    TAKES_PATTERNS_FOR_NAMES,
    DOES_NOT_LOG_IN,
    STAYS_OPEN,
    STAYS_OPEN_IF_REFUSED,
    SUBSCRIBES_ONCE
  }

  BrokenSubscriptions(RedisNodes nodes, List<String> uris, Mistake mistake) {
    super(nodes);
    this.uris = uris;
    this.mistake = mistake;
  }

  @Override
  public void subscribe(int node, Subscription subscription) {
    Connection connection = new Connection(URI.create(uris.get(node)), subscription);
    connections.add(connection);
    Thread thread = new Thread(connection::run, "broken-subscription");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    if (mistake != Mistake.STAYS_OPEN) {
      connections.forEach(Connection::close);
    }
    nodes.close();
  }

  private final class Connection implements PubSubConnection {
    private final URI uri;
    private final Subscription subscription;
    private final Socket socket = new Socket();
    private final List<String> channels = new ArrayList<>();
    private volatile boolean isRefused;

    Connection(URI uri, Subscription subscription) {
      this.uri = uri;
      this.subscription = subscription;
    }

    void run() {
      try (socket) {
        socket.connect(new InetSocketAddress(uri.getHost(), uri.getPort()), 1_000);
        InputStream in = new BufferedInputStream(socket.getInputStream());
        String userInfo = uri.getUserInfo();
        if (userInfo != null && mistake != Mistake.DOES_NOT_LOG_IN) {
          String[] login = userInfo.split(":", 2);
          send(List.of("AUTH", login[0], login[1]));
          read(in);
        }
        subscription.onConnected(this);
        while (true) {
          onReply(read(in));
        }
      } catch (IOException e) {
        if (mistake != Mistake.END_NOT_REPORTED) {
          subscription.onEnded();
        }
      }
    }

    private void onReply(@Nullable Object reply) {
      if (reply instanceof String error && error.startsWith("-")) {
        isRefused = true;
        subscription.onError(error.substring(1));
      } else if (reply instanceof List<?> message) {
        String channel = String.valueOf(message.get(1));
        switch (String.valueOf(message.get(0))) {
          case "message" -> subscription.onMessage(channel, String.valueOf(message.get(2)));
          case "pmessage" ->
              subscription.onMessage(
                  mistake == Mistake.TAKES_PATTERNS_FOR_NAMES
                      ? channel
                      : String.valueOf(message.get(2)),
                  String.valueOf(message.get(3)));
          default -> subscription.onAnswered(channel);
        }
      }
    }

    @Override
    public void subscribe(List<String> names) {
      boolean isFirst = channels.isEmpty();
      channels.addAll(names);
      switch (mistake) {
        case TAKES_NAMES_FOR_PATTERNS, TAKES_PATTERNS_FOR_NAMES -> trySend("PSUBSCRIBE", names);
        case SUBSCRIBES_ONE_NAME -> {
          trySend("SUBSCRIBE", names.subList(0, 1));
          names.subList(1, names.size()).forEach(subscription::onAnswered);
        }
        case SUBSCRIBES_ONCE -> {
          if (isFirst) {
            trySend("SUBSCRIBE", names);
          } else {
            answered(names);
          }
        }
        default -> trySend("SUBSCRIBE", names);
      }
    }

    @Override
    public void unsubscribe(List<String> names) {
      switch (mistake) {
        case NEVER_UNSUBSCRIBES -> answered(names);
        case TAKES_NAMES_FOR_PATTERNS, TAKES_PATTERNS_FOR_NAMES -> trySend("PUNSUBSCRIBE", names);
        case UNSUBSCRIBES_FROM_ALL -> trySend("UNSUBSCRIBE", List.of());
        default -> trySend("UNSUBSCRIBE", names);
      }
    }

    /** Answers on another thread, as a node would. */
    private void answered(List<String> names) {
      new Thread(() -> names.forEach(subscription::onAnswered), "answers").start();
    }

    @Override
    public void close() {
      if (mistake == Mistake.STAYS_OPEN
          || (isRefused && mistake == Mistake.STAYS_OPEN_IF_REFUSED)) {
        return;
      }
      try {
        socket.close();
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    private void trySend(String verb, List<String> names) {
      List<String> words = new ArrayList<>(List.of(verb));
      words.addAll(names);
      try {
        send(words);
      } catch (IOException ended) {
        // which the reading thread notices
      }
    }

    private void send(List<String> words) throws IOException {
      socket.getOutputStream().write(new Command.Plain(words).encoded());
    }
  }

  private static @Nullable Object read(InputStream in) throws IOException {
    String line = line(in);
    return switch (line.charAt(0)) {
      case '*' -> {
        List<Object> list = new ArrayList<>();
        for (int i = Integer.parseInt(line.substring(1)); i > 0; i--) {
          list.add(String.valueOf(read(in)));
        }
        yield list;
      }
      case '$' -> line.equals("$-1") ? null : bulk(in, Integer.parseInt(line.substring(1)));
      case '+', ':' -> line.substring(1);
      default -> line;
    };
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\r'; c = in.read()) {
      if (c < 0) {
        throw new EOFException();
      }
      line.append((char) c);
    }
    in.skipNBytes(1);
    return line.toString();
  }

  private static String bulk(InputStream in, int bytes) throws IOException {
    String text = new String(in.readNBytes(bytes), StandardCharsets.UTF_8);
    in.skipNBytes(2);
    return text;
  }
}
