package dev.holdfast.simulation;

import dev.holdfast.LockLostException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The transfers that begin at one client, and its adoptions. A queue delivers each text to any
 * client, mostly twice, at the same time or later, and sometimes after its end.
 */
final class Transfers {
  private static final long MILLI = 1_000;

  private final World world;
  private final Host host;
  private final Workload workload;

  /**
   * A text on its way.
   *
   * @param adoptions how many leases the text has given
   */
  record Delivery(String text, String name, Holding from, AtomicInteger adoptions) {}

  Transfers(World world, Host host, Workload workload) {
    this.world = world;
    this.host = host;
    this.workload = workload;
  }

  /**
   * Transfers a lease, or releases it if that fails.
   *
   * @param next the next action of the holder
   */
  void transfer(Holding holding, Runnable next) {
    if (holding.isOver()) {
      next.run();
      return;
    }
    long within = world.ttl(host.longestTtlMillis);
    Judge.Call call = world.judge.calls(host, "a transfer", world.setting.inTurn());
    holding.extending(call);
    holding.isTransferring = true;
    world.note(host.id(), Trace.NONE, "transfers", within, () -> holding + " within " + within);
    holding
        .lease
        .transferAsync(Duration.ofMillis(within))
        .whenComplete(
            (text, failure) -> {
              world.judge.returned(call);
              world.note(
                  host.id(),
                  Trace.NONE,
                  failure == null ? "has transferred" : "has not transferred",
                  holding.digest(),
                  () -> holding + (failure == null ? "" : ": " + Workload.nameOf(failure)));
              if (failure == null) {
                world.judge.transferred(holding);
                deliver(text, holding, within);
                next.run();
              } else {
                holding.couldNotExtend = failure instanceof LockOutageException;
                if (!workload.isExpected(holding, failure)) {
                  world.judge.surprise(host.id(), failure);
                }
                workload.release(holding, next);
              }
            });
  }

  private void deliver(String text, Holding holding, long within) {
    Delivery delivery = new Delivery(text, holding.lease.name(), holding, new AtomicInteger());
    long first = world.now() + world.spread(100, within * MILLI);
    int deliveries = 1 + world.random.nextInt(3);
    for (int i = 0; i < deliveries; i++) {
      boolean isAtOnce = i == 0 || world.chance(600);
      long at =
          isAtOnce ? first + world.random.nextInt(500) : first + world.spread(500, within * MILLI);
      world.at(at, null, () -> toAnyClient(delivery));
    }
  }

  private void toAnyClient(Delivery delivery) {
    Host to = world.hosts.get(world.random.nextInt(world.hosts.size()));
    world.at(world.now(), to, () -> to.workload().adopt(delivery));
  }

  /**
   * Adopts a lock.
   *
   * @param opening how long the manager may still take to open, in microseconds
   */
  void adopt(Delivery delivery, long opening) {
    long ttl = world.ttl(host.longestTtlMillis);
    LockRequest request = LockRequest.of(delivery.name(), Duration.ofMillis(ttl));
    if (world.chance(300)) {
      request = request.keepAliveUpTo(Duration.ofMillis(ttl + world.random.nextLong(4 * ttl)));
    }
    adopt(delivery, request, opening);
  }

  private void adopt(Delivery delivery, LockRequest request, long opening) {
    long ttl = request.ttl().toMillis();
    Judge.Call call = world.judge.calls(host, "an adoption", world.setting.attempt(ttl) + opening);
    long askedAt = world.now();
    world.note(host.id(), Trace.NONE, "adopts", ttl, () -> delivery.from() + " by " + request);
    host.manager
        .adoptAsync(delivery.text(), request)
        .whenComplete(
            (lease, failure) -> {
              world.judge.returned(call);
              if (failure == null) {
                Holding holding = new Holding(host, request, lease, askedAt);
                world.judge.adopted(holding, delivery);
                workload.hold(holding, () -> {});
              } else {
                refused(delivery, failure);
              }
            });
  }

  private void refused(Delivery delivery, Throwable failure) {
    world.note(
        host.id(), Trace.NONE, "cannot adopt", delivery.from() + ": " + Workload.nameOf(failure));
    if (!(failure instanceof LockLostException)
        && !(failure instanceof LockOutageException)
        && !workload.isMisconfigured(failure)
        && !(workload.isClosing() && failure instanceof IllegalStateException)) {
      world.judge.surprise(host.id(), failure);
    }
  }
}
