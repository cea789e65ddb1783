package dev.holdfast.tck.broken;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;

/**
 * A way on which a reply belongs to the request that has waited longest, as on a connection to a
 * real server. Right, as long as no request is forgotten before its reply has come. Replies are
 * taken for those of other requests of the same kind only: a reply of another kind fits no request,
 * and is no vote.
 */
final class RepliesInOrder implements Way {
  private final Way way;
  private final Queue<Waiting> waiting = new ArrayDeque<>();
  private long connection;

  /** A request whose reply has not come. */
  private record Waiting(Request request, Consumer<Object> reply) {
    boolean isOf(Request other) {
      return request.name().equals(other.name()) && request.text().endsWith(other.text());
    }
  }

  RepliesInOrder(Way way) {
    this.way = way;
  }

  /** Loses the place of a request. */
  void forget(Request request) {
    waiting.removeIf(one -> one.isOf(request));
  }

  @Override
  public void send(Request request, Member from, Consumer<Object> reply) {
    long mine = connection;
    waiting.add(new Waiting(request, reply));
    way.send(
        request,
        from,
        answer -> {
          if (mine == connection) {
            reply(request, answer);
          }
        });
  }

  private void reply(Request request, Object answer) {
    waiting.stream()
        .filter(one -> one.request().verb() == request.verb())
        .findFirst()
        .ifPresent(
            first -> {
              waiting.remove(first);
              first.reply().accept(answer);
            });
  }

  @Override
  public void disconnected(Member member) {
    connection++;
    waiting.clear();
    way.disconnected(member);
  }

  @Override
  public void connected(Member member) {
    way.connected(member);
  }

  @Override
  public String uri() {
    return way.uri();
  }

  @Override
  public FakeNode node() {
    return way.node();
  }

  @Override
  public boolean isOpen() {
    return way.isOpen();
  }

  @Override
  public void examine(Consumer<Examined> reply) {
    way.examine(reply);
  }
}
