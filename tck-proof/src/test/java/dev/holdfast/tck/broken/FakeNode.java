package dev.holdfast.tck.broken;

import dev.holdfast.core.Scheduler;
import dev.holdfast.tck.broken.NodeError.Kind;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A server that is none: keeps locks in this JVM, and can be made to fail as a real one does. */
final class FakeNode implements TckNode, Way {
  private static final Duration LONG = Duration.ofMinutes(1);

  /** More than the default of {@code nodeTimeout}, and much less than that of the other. */
  private static final Duration LATE = Duration.ofMillis(120);

  private static final int LONGEST_THAW_SECONDS = 5;
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private final String address = "fake-" + NUMBERS.incrementAndGet() + ":1";
  private final Scheduler network;
  private final FakeKeys keys;
  private final Set<TckFault> faults = EnumSet.noneOf(TckFault.class);
  private final Set<String> forbidden = new HashSet<>();
  private final Set<Request.Verb> scripts = EnumSet.allOf(Request.Verb.class);
  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private final Queue<Runnable> late = new ArrayDeque<>();
  private final Set<Member> connected = new LinkedHashSet<>();
  private long requests;

  FakeNode(Scheduler network, FakeKeys keys) {
    this.network = network;
    this.keys = keys;
  }

  @Override
  public String address() {
    return address;
  }

  @Override
  public String uri() {
    return "fake://" + address;
  }

  @Override
  public Optional<String> alias() {
    return Optional.of("fake://alias-of-" + address);
  }

  @Override
  public synchronized Optional<String> holder(String name) {
    return keys.token(name);
  }

  @Override
  public synchronized Duration timeToLive(String name) {
    return keys.left(name);
  }

  @Override
  public synchronized void occupy(String name, String token, Duration ttl) {
    keys.put(name, token, ttl);
  }

  @Override
  public synchronized boolean occupyIfFree(String name, String token, Duration ttl) {
    if (keys.contains(name)) {
      return false;
    }
    keys.put(name, token, ttl);
    return true;
  }

  @Override
  public synchronized void remove(String name) {
    keys.remove(name);
  }

  @Override
  public Set<TckFault> faults() {
    return EnumSet.complementOf(
        EnumSet.of(
            TckFault.SUBSCRIPTIONS_CUT,
            TckFault.LOGIN_NEEDED,
            TckFault.NO_SCRIPTS,
            TckFault.NO_SUBSCRIPTIONS,
            TckFault.LEAST_RIGHTS));
  }

  @Override
  public void begin(TckFault fault, String name) {
    synchronized (this) {
      switch (fault) {
        case FROZEN, SLOW, REFUSING, REPLICA, EVICTING -> faults.add(fault);
        case DEAD -> {
          faults.add(fault);
          keys.clear();
        }
        case FORBIDDEN -> forbidden.add(name);
        case OTHER_TYPE -> keys.putOfOtherType(name, LONG);
        case SCRIPTS_FORGOTTEN -> scripts.clear();
        case EMPTIED -> keys.clear();
        case CUT, SUBSCRIPTIONS_CUT, LOGIN_NEEDED, NO_SCRIPTS, NO_SUBSCRIPTIONS, LEAST_RIGHTS -> {}
      }
    }
    if (fault == TckFault.DEAD || fault == TckFault.CUT) {
      cut();
    }
  }

  @Override
  public void end(TckFault fault, String name) {
    synchronized (this) {
      switch (fault) {
        case FORBIDDEN -> forbidden.remove(name);
        case OTHER_TYPE -> {
          if (keys.isOfOtherType(name)) {
            keys.remove(name);
          }
        }
        case FROZEN -> {}
        default -> faults.remove(fault);
      }
    }
    if (fault == TckFault.FROZEN) {
      awaitThaw();
    } else if (fault == TckFault.SLOW) {
      awaitLate();
    }
  }

  @Override
  public synchronized OptionalLong requests() {
    return OptionalLong.of(requests);
  }

  @Override
  public synchronized OptionalInt connections() {
    return OptionalInt.of(connected.size());
  }

  @Override
  public Optional<TckLink> link() {
    return Optional.of(new FakeLink(this));
  }

  /** Sound and empty again. */
  void reset() {
    synchronized (this) {
      keys.clear();
      forbidden.clear();
      faults.retainAll(EnumSet.of(TckFault.FROZEN));
      scripts.addAll(EnumSet.allOf(Request.Verb.class));
    }
    awaitThaw();
  }

  @Override
  public FakeNode node() {
    return this;
  }

  @Override
  public synchronized boolean isOpen() {
    return !faults.contains(TckFault.DEAD);
  }

  @Override
  public void examine(Consumer<Examined> reply) {
    whenAwake(
        () ->
            reply.accept(
                new Examined(
                    address,
                    faults.contains(TckFault.REPLICA),
                    faults.contains(TckFault.EVICTING))));
  }

  @Override
  public void send(Request request, Member from, Consumer<Object> reply) {
    synchronized (this) {
      requests++;
    }
    whenAwake(
        () -> {
          Object answer;
          synchronized (this) {
            answer = answer(request);
          }
          reply.accept(answer);
        });
  }

  @Override
  public synchronized void connected(Member member) {
    connected.add(member);
  }

  @Override
  public synchronized void disconnected(Member member) {
    connected.remove(member);
  }

  private void cut() {
    List<Member> cut;
    synchronized (this) {
      cut = List.copyOf(connected);
      connected.clear();
    }
    cut.forEach(Member::cut);
  }

  /** Runs tasks on the network's thread, in the order in which they came. */
  private void whenAwake(Runnable work) {
    synchronized (this) {
      if (faults.contains(TckFault.SLOW) || !late.isEmpty()) {
        late.add(work);
        network.schedule(LATE.toNanos(), this::nextOfLate);
        return;
      }
    }
    unlessFrozen(work);
  }

  private void nextOfLate() {
    Runnable next;
    synchronized (this) {
      next = late.poll();
    }
    if (next != null) {
      unlessFrozen(next);
    }
  }

  private void unlessFrozen(Runnable work) {
    synchronized (this) {
      if (faults.contains(TckFault.FROZEN)) {
        waiting.add(work);
        return;
      }
    }
    work.run();
  }

  private void awaitThaw() {
    awaitDone(this::thaw);
  }

  private void awaitLate() {
    awaitDone(
        () -> {
          while (isAnyLate()) {
            nextOfLate();
          }
        });
  }

  private synchronized boolean isAnyLate() {
    return !late.isEmpty();
  }

  /** Does it on the network's thread. */
  void awaitDone(Runnable work) {
    CountDownLatch done = new CountDownLatch(1);
    network.schedule(
        0,
        () -> {
          work.run();
          done.countDown();
        });
    try {
      done.await(LONGEST_THAW_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Does first all that it was sent, and then what is asked because of the replies. */
  private void thaw() {
    while (isFrozen()) {
      waiting().ifPresent(Runnable::run);
    }
  }

  private synchronized boolean isFrozen() {
    return faults.contains(TckFault.FROZEN);
  }

  /** The next that waits, or thawed if there is none. */
  private synchronized Optional<Runnable> waiting() {
    Optional<Runnable> next = Optional.ofNullable(waiting.poll());
    if (next.isEmpty()) {
      faults.remove(TckFault.FROZEN);
    }
    return next;
  }

  private Object answer(Request request) {
    if (faults.contains(TckFault.DEAD)) {
      return new NodeError(Kind.DISCONNECTED, "the connection ended");
    }
    if (forbidden.contains(request.name())) {
      return new NodeError(Kind.MENDABLE, "NOPERM no right to '" + request.name() + "'");
    }
    if (faults.contains(TckFault.REPLICA) && request.verb().writes()) {
      return new NodeError(Kind.MENDABLE, "READONLY it is a replica");
    }
    if (faults.contains(TckFault.REFUSING) && request.verb().needsRoom()) {
      return new NodeError(Kind.PASSING, "OOM it is full");
    }
    if (request.verb().isScript()) {
      if (request.withSource()) {
        scripts.add(request.verb());
      } else if (!scripts.contains(request.verb())) {
        return new NodeError(Kind.NO_SCRIPT, "NOSCRIPT it does not know " + request.verb());
      }
    }
    return request.work().apply(keys);
  }
}
