package dev.holdfast.simulation;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The load by the users of one manager: ask, hold, extend, release, forget, cancel. */
final class Workload {
  private static final long MILLI = 1_000;
  private static final long NANOS_IN_MICRO = 1_000;
  private static final String LOCK = "lock";
  private static final long LONGEST_HOLD_MILLIS = 15_000;

  /** Maximum time from a request that waits to the release of its lock. */
  private static final long LONGEST_WAIT_AND_WORK_MILLIS = 4_000;

  /** The time that opening may take, once. */
  private static final long OPENING = 2_200 * MILLI;

  private final World world;
  private final Host host;
  private final List<Holding> held = new ArrayList<>();
  private final Queues queues = new Queues();
  private final Transfers transfers;
  private boolean closing;
  private boolean closed;
  private long quietSince;
  private long opensUntil = -1;

  Workload(World world, Host host) {
    this.world = world;
    this.host = host;
    this.transfers = new Transfers(world, host, this);
  }

  static List<String> names(Setting setting) {
    return IntStream.range(0, setting.names()).mapToObj(i -> LOCK + i).toList();
  }

  /** Returns whether a key is a lock, and not one of the core's own keys. */
  static boolean isLock(String key) {
    return key.startsWith(LOCK);
  }

  void begin() {
    for (int worker = 0; worker < world.setting.workers(); worker++) {
      think();
    }
    world.at(world.healing(), host, this::heal);
  }

  private void think() {
    long pause = world.spread(40 * MILLI, world.rates.longestPauseBetween * MILLI);
    world.at(world.now() + pause, host, this::ask);
  }

  private void ask() {
    if (closing || (world.isHealed() && !host.isStranger)) {
      return;
    }
    String name = LOCK + world.random.nextInt(world.setting.names());
    int longest = host.longestTtlMillis;
    long ttl = world.ttl(longest);
    LockRequest request = LockRequest.of(name, Duration.ofMillis(ttl));
    if (world.chance(300)) {
      request = request.keepAliveUpTo(Duration.ofMillis(ttl + world.random.nextLong(4 * ttl)));
    }
    if (world.chance(60)) {
      request = request.holdAtLeast(Duration.ofMillis(world.random.nextLong(ttl)));
    }
    if (world.rates.longHoldsPerMille > 0 && world.chance(world.rates.longHoldsPerMille)) {
      request = longHold(request);
    }
    boolean waits = world.chance(400);
    if (waits) {
      request = request.waitAtMost(Duration.ofMillis(world.spread(10, 2_000)));
    }
    CompletableFuture<Optional<Lease>> answer = ask(request, this::think);
    if (waits && world.chance(50)) {
      world.at(world.now() + world.spread(100, 1_000_000), host, () -> cancel(name, answer));
    }
  }

  /**
   * Returns the request with a long hold that ends before healing, because each name must be
   * granted soon after that.
   */
  private LockRequest longHold(LockRequest request) {
    long left = (world.healing() - world.now()) / MILLI - LONGEST_WAIT_AND_WORK_MILLIS;
    long hold = world.spread(request.ttl().toMillis(), LONGEST_HOLD_MILLIS);
    return hold < left ? request.holdAtLeast(Duration.ofMillis(hold)) : request;
  }

  private void cancel(String name, CompletableFuture<Optional<Lease>> answer) {
    if (answer.cancel(false)) {
      queues.cancelled(name);
    }
  }

  /** Returns whether the manager is closed or about to be. */
  boolean isClosing() {
    return closing;
  }

  /** Returns whether the manager was closed. */
  boolean isClosed() {
    return closed;
  }

  /** Makes one request, with the longest ttl. */
  void askFor(String name) {
    if (!closing && !world.isHealed()) {
      ask(LockRequest.of(name, Duration.ofMillis(host.longestTtlMillis)), () -> {});
    }
  }

  private CompletableFuture<Optional<Lease>> ask(LockRequest request, Runnable next) {
    world.note(host.id(), Trace.NONE, "asks for", request.ttl().toNanos(), request::toString);
    opensUntil = opensUntil < 0 ? host.ranFor() + OPENING : opensUntil;
    long wait = request.waitAtMost().orElse(Duration.ZERO).toNanos() / MILLI;
    long attempt = world.setting.attempt(request.ttl().toMillis());
    long limit = wait + attempt + Math.max(0, opensUntil - host.ranFor());
    Judge.Call call = world.judge.calls(host, "the request for " + request.name(), limit);
    long askedAt = world.now();
    world.judge.listening.waits(host, request);
    int attempts = world.judge.polls.attempts(host, request.name());
    Queues.Place place = queues.enter(request.name(), attempts);
    CompletableFuture<Optional<Lease>> answer = host.manager.tryAcquireAsync(request);
    boolean triesAtOnce = world.judge.polls.attempts(host, request.name()) > attempts;
    answer.whenComplete(
        (lease, failure) -> {
          world.judge.returned(call);
          boolean alone = queues.leave(place);
          if (failure != null || lease.isEmpty()) {
            judge(request, place, alone, triesAtOnce, failure);
          }
          world.judge.listening.waitsNoMore(host, request, askedAt);
          if (failure != null) {
            refused(request, triesAtOnce, failure);
            next.run();
          } else if (lease.isEmpty()) {
            world.note(host.id(), Trace.NONE, "gets nothing", 0, request::name);
            next.run();
          } else {
            hold(new Holding(host, request, lease.get(), askedAt), next);
          }
        });
    return answer;
  }

  /** Checks whether a request distinguishes outage and contention. */
  private void judge(
      LockRequest request,
      Queues.Place place,
      boolean alone,
      boolean triesAtOnce,
      @Nullable Throwable failure) {
    Polls polls = world.judge.polls;
    if (request.waitAtMost().isEmpty() && triesAtOnce) {
      polls.answered(host, request.name(), place.attempts(), failure);
    } else if (request.waitAtMost().isPresent() && host.isCalledBackAtOnce()) {
      if (failure == null && alone) {
        polls.waitedAlone(host, request.name(), place.attempts());
      } else if (failure == null) {
        polls.waitedInQueue(host, request.name());
      }
    }
  }

  private void refused(LockRequest request, boolean triesAtOnce, Throwable failure) {
    world.note(host.id(), Trace.NONE, "fails", request.name() + ": " + nameOf(failure));
    if (failure instanceof LockOutageException) {
      if (isToBeAnswered(request, triesAtOnce)) {
        world.judge.failed(host, "a request", failure);
      }
    } else if (!(failure instanceof CancellationException)
        && !isMisconfigured(failure)
        && !(closing && failure instanceof IllegalStateException)) {
      world.judge.surprise(host.id(), failure);
    }
  }

  /**
   * Returns whether a request may not end in an outage. A request behind another one reports the
   * outage of the head, whose ttl may be short.
   */
  private boolean isToBeAnswered(LockRequest request, boolean triesAtOnce) {
    boolean isSlow = world.setting.trips(4) > world.setting.nodeTimeoutMillis() * MILLI;
    if (!world.setting.isInTime(request.ttl().toMillis())) {
      return false;
    }
    return request.waitAtMost().isEmpty()
        ? triesAtOnce || !world.judge.polls.mayKnowOfAnOutage(host, request.name())
        : !isSlow;
  }

  /** Replicas are, and clients that differ in their maxTtl. */
  boolean isMisconfigured(Throwable failure) {
    return failure instanceof LockConfigurationException && world.rates.guardedLosses > 0;
  }

  /** Adopts what another process transferred, or this one. */
  void adopt(Transfers.Delivery delivery) {
    if (!closing && !world.isHealed()) {
      opensUntil = opensUntil < 0 ? host.ranFor() + OPENING : opensUntil;
      transfers.adopt(delivery, Math.max(0, opensUntil - host.ranFor()));
    }
  }

  void hold(Holding holding, Runnable next) {
    Lease lease = holding.lease;
    LockRequest request = holding.request;
    held.removeIf(Holding::isOver);
    held.add(holding);
    world.note(
        host.id(),
        Trace.NONE,
        "holds",
        holding.digest(),
        () -> holding + " for " + lease.remaining());
    world.judge.granted(holding);
    lease.onLoss().thenAccept(reason -> lost(holding, reason));
    request
        .keepAliveUpTo()
        .ifPresent(
            most -> {
              long over = host.clock.micros(most.toNanos()) + 2 * MILLI;
              world.at(world.now() + over, host, () -> world.judge.holdIsOver(holding));
            });
    long hold = world.spread(500, world.rates.longestHoldMillis * MILLI);
    if (world.isHealed()) {
      hold = 0;
    } else if (world.chance(250)) {
      extendIn(holding, request.ttl().toNanos() / MILLI / 3);
      hold *= 2;
    }
    boolean forgets = world.chance(70) && request.keepAliveUpTo().isEmpty() && !world.isHealed();
    if (forgets) {
      next.run();
    } else {
      endIn(holding, hold, next);
    }
  }

  /** Releases the lease or transfers it when its holder is done. */
  private void endIn(Holding holding, long micros, Runnable next) {
    boolean moves = !world.isHealed() && world.chance(world.rates.transfersPerMille);
    world.at(
        world.now() + micros,
        host,
        () -> {
          if (moves && !closing) {
            transfers.transfer(holding, next);
          } else {
            release(holding, next);
          }
        });
  }

  private void extendIn(Holding holding, long micros) {
    world.at(
        world.now() + micros,
        host,
        () -> {
          if (!holding.isOver() && !world.isHealed() && !closing) {
            extend(holding);
          }
        });
  }

  private void extend(Holding holding) {
    int longest = host.longestTtlMillis;
    long ttl = world.ttl(longest);
    Judge.Call call = world.judge.calls(host, "an extension", world.setting.inTurn());
    holding.extending(call);
    world.note(host.id(), Trace.NONE, "extends", ttl, () -> holding + " to " + ttl + " ms");
    holding
        .lease
        .extendAsync(Duration.ofMillis(ttl))
        .whenComplete(
            (done, failure) -> {
              world.judge.returned(call);
              world.note(
                  host.id(),
                  Trace.NONE,
                  failure == null ? "has extended" : "has not extended",
                  holding.digest(),
                  () -> holding + (failure == null ? "" : ": " + nameOf(failure)));
              holding.couldNotExtend = failure instanceof LockOutageException;
              if (failure == null) {
                world.judge.extended(holding);
              } else if (!isExpected(holding, failure)) {
                world.judge.surprise(host.id(), failure);
              }
              if (failure == null || failure instanceof LockOutageException) {
                extendIn(holding, world.spread(ttl * MILLI / 8, ttl * MILLI));
              }
            });
  }

  /**
   * Returns whether an extension may fail like this. One reason is a release while the extension
   * waited for its turn.
   */
  boolean isExpected(Holding holding, Throwable failure) {
    return failure instanceof LockLostException
        || failure instanceof LockOutageException
        || isMisconfigured(failure)
        || ((holding.isOver() || holding.isTransferring)
            && failure instanceof IllegalStateException);
  }

  void release(Holding holding, @Nullable Runnable next) {
    if (holding.isOver()) {
      if (next != null) {
        next.run();
      }
      return;
    }
    world.note(host.id(), Trace.NONE, "releases", holding.digest(), holding::toString);
    world.judge.releasing(holding);
    Judge.Call call = world.judge.calls(host, "a release", world.setting.quorumTimeout());
    String name = holding.lease.name();
    // From then on its keys may go by themselves before they are deleted.
    long end = world.now() + holding.lease.remaining().toNanos() / NANOS_IN_MICRO;
    var answer = holding.lease.releaseAsync();
    long asked = world.judge.listening.asked(host, name);
    world.judge.released(holding);
    answer.whenComplete(
        (good, failure) -> {
          world.judge.returned(call);
          world.note(
              host.id(),
              Trace.NONE,
              "has released",
              failure == null && good ? 1 : 0,
              () -> holding + ": " + (failure == null ? good.toString() : nameOf(failure)));
          if (holding.request.holdAtLeast().isZero()) {
            world.judge.listening.onReleased(host, name, asked);
          }
          if (failure == null && good) {
            world.judge.keptHolds.released(holding);
          }
          judgeRelease(holding, good, failure, end);
          if (next != null) {
            next.run();
          }
        });
  }

  /** Judges the answer of a release, of a lease that was valid until {@code end}. */
  private void judgeRelease(
      Holding holding, @Nullable Boolean good, @Nullable Throwable failure, long end) {
    if (good != null) {
      world.judge.releaseAnswered(holding, good);
      world.judge.polls.released(holding, good, null);
      if (!good && holding.heldWhenReleased && world.now() < end) {
        world.judge.disturbed(holding, "was held, but its release says it was not");
      }
    } else if (failure instanceof LockOutageException) {
      world.judge.polls.released(holding, false, failure);
      if (world.setting.trips(2) < world.setting.quorumTimeout()) {
        world.judge.failed(host, "a release", failure);
      }
    } else if (failure != null && !isMisconfigured(failure)) {
      world.judge.surprise(host.id(), failure);
    }
  }

  private void lost(Holding holding, LossReason reason) {
    if (reason != LossReason.CLOSED) { // those come in no order
      world.note(host.id(), Trace.NONE, "has lost", holding + ": " + reason);
      boolean longEnough =
          holding.request.keepAliveUpTo().isPresent()
              ? reason == LossReason.MAX_HOLD
              : reason == LossReason.EXPIRED
                  || (reason == LossReason.UNREACHABLE && holding.couldNotExtend);
      if (!longEnough && world.setting.isKeptInTime(holding.request.ttl().toMillis())) {
        world.judge.disturbed(holding, "is lost: " + reason);
      }
    }
    world.judge.polls.lost(holding, reason);
    world.judge.lost(holding);
  }

  /** Ends the faults. Nothing new begins, and a client must get each name soon. */
  private void heal() {
    if (closed) {
      return;
    }
    for (Holding holding : List.copyOf(held)) {
      if (holding.request.keepAliveUpTo().isPresent()) {
        release(holding, null);
      }
    }
    if (host.isStranger) {
      return;
    }
    long wait = world.setting.recoveredAtLast() - world.healing();
    for (String name : names(world.setting)) {
      long ttl = host.longestTtlMillis / 2L + 50;
      ask(
          LockRequest.of(
                  name,
                  Duration.ofMillis(
                      Math.max(ttl, world.setting.usualTtlMillis(host.longestTtlMillis))))
              .waitAtMost(Duration.ofNanos(wait * MILLI)),
          () -> {});
    }
  }

  /**
   * Closes the manager while it waits for nothing: it would block, and here time stands still while
   * a thread blocks.
   */
  void close() {
    if (!closing && host.isAlive()) {
      closing = true;
      quietSince = world.now();
      closeWhenQuiet();
    }
  }

  private void closeWhenQuiet() {
    if ((host.driver.isOpening() && host.ranFor() < opensUntil)
        || host.driver.awaitsAnswers()
        || host.pausedUntil() >= quietSince) {
      quietSince = world.now();
    }
    if (world.now() - quietSince < world.setting.quorumTimeout() + 100 * MILLI) {
      world.at(world.now() + 10 * MILLI, host, this::closeWhenQuiet);
      return;
    }
    world.note(host.id(), Trace.NONE, "closes its manager", "");
    closed = true;
    host.manager.close();
    held.removeIf(Holding::isOver);
    held.forEach(holding -> holding.closed(world.now()));
    Run.addHost(world);
  }

  static String nameOf(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return cause.getClass().getSimpleName();
  }
}
