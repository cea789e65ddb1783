package dev.holdfast.tck.broken;

import dev.holdfast.tck.env.TckLink;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Stands before a fake node, and loses the requests that a test names. */
final class FakeLink implements TckLink, Way {
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  /** The open links, by URI. */
  static final Map<String, FakeLink> OPEN = new ConcurrentHashMap<>();

  private final String uri = "fake://link-" + NUMBERS.incrementAndGet() + ":1";
  private final FakeNode node;
  private final Map<String, Fading> fading = new HashMap<>();
  private final Map<String, List<String>> seen = new HashMap<>();
  private final Set<Member> connected = new LinkedHashSet<>();

  /** Late requests, by the connection that they came on. */
  private final Map<Member, List<Runnable>> late = new HashMap<>();

  /** Late requests of connections that have ended. */
  private final List<Runnable> lateOfEnded = new ArrayList<>();

  private int connections;
  private boolean isCut;
  private @Nullable String error;

  /** A fate that begins after some requests. */
  private record Fading(AtomicInteger passing, Fate fate) {}

  FakeLink(FakeNode node) {
    this.node = node;
    OPEN.put(uri, this);
  }

  @Override
  public String uri() {
    return uri;
  }

  @Override
  public FakeNode node() {
    return node;
  }

  @Override
  public synchronized void after(String name, int passing, Fate fate) {
    fading.put(name, new Fading(new AtomicInteger(passing), fate));
  }

  @Override
  public synchronized List<String> requests(String name) {
    return List.copyOf(seen.getOrDefault(name, List.of()));
  }

  @Override
  public synchronized OptionalInt connections() {
    return OptionalInt.of(connections);
  }

  @Override
  public synchronized void refuse(String text) {
    error = text;
  }

  @Override
  public void cut() {
    List<Member> ended;
    synchronized (this) {
      isCut = true;
      late.clear();
      lateOfEnded.clear();
      ended = List.copyOf(connected);
    }
    ended.forEach(Member::cut);
  }

  @Override
  public void mend() {
    synchronized (this) {
      isCut = false;
      error = null;
      fading.clear();
    }
    node.awaitDone(this::sendLate);
  }

  private void sendLate() {
    List<Runnable> all;
    synchronized (this) {
      all = new ArrayList<>(lateOfEnded);
      late.values().forEach(all::addAll);
      late.clear();
      lateOfEnded.clear();
    }
    all.forEach(Runnable::run);
  }

  @Override
  public void close() {
    cut();
    OPEN.remove(uri);
  }

  @Override
  public synchronized boolean isOpen() {
    return !isCut && node.isOpen();
  }

  @Override
  public void examine(Consumer<Examined> reply) {
    node.examine(reply);
  }

  @Override
  public void send(Request request, Member from, Consumer<Object> reply) {
    Fate fate = fateOf(request);
    String refusal = error();
    if (refusal != null) {
      reply.accept(new NodeError(NodeError.Kind.PASSING, refusal));
      return;
    }
    if (isLate(fate, from, () -> node.send(request, from, reply))) {
      return;
    }
    if (fate == null || fate == Fate.REPLY_CUT) {
      node.send(request, from, fate == null ? reply : answer -> from.cut());
    } else if (fate == Fate.CUT) {
      from.cut();
    }
  }

  @Override
  public void connected(Member member) {
    synchronized (this) {
      connections++;
      connected.add(member);
    }
    node.connected(member);
  }

  @Override
  public void disconnected(Member member) {
    synchronized (this) {
      connected.remove(member);
      lateOfEnded.addAll(late.getOrDefault(member, List.of()));
      late.remove(member);
    }
    node.disconnected(member);
  }

  private synchronized @Nullable String error() {
    return error;
  }

  private synchronized boolean isLate(@Nullable Fate fate, Member from, Runnable send) {
    if (fate != Fate.LATE && !late.containsKey(from)) {
      return false;
    }
    late.computeIfAbsent(from, member -> new ArrayList<>()).add(send);
    return true;
  }

  private synchronized @Nullable Fate fateOf(Request request) {
    seen.computeIfAbsent(request.name(), n -> new ArrayList<>()).add(request.text());
    Fading ahead = fading.get(request.name());
    if (ahead == null || ahead.passing().getAndDecrement() > 0) {
      return null;
    }
    if (ahead.fate() == Fate.LATE) {
      fading.remove(request.name()); // other connections pass
    }
    return ahead.fate();
  }
}
