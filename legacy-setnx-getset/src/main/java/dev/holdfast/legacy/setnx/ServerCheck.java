package dev.holdfast.legacy.setnx;

import dev.holdfast.core.Clock;
import dev.holdfast.redis.ServerError;
import dev.holdfast.redis.ServerInfo;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.concurrent.atomic.AtomicBoolean;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Looks whether a server that was just connected is fit to hold locks, and its clock near ours. A
 * user who may not ask for that may still lock, but nothing can be checked then.
 */
final class ServerCheck {
  private static final Logger LOG = System.getLogger(SetnxLocks.class.getName());

  /** Stamps are compared with clocks, and have a second to spare. */
  private static final long MAX_MICROS_APART = 1_000_000;

  private final String address;
  private final Clock clock;
  private final AtomicBoolean warnedOfClock = new AtomicBoolean();
  private final AtomicBoolean warnedOfPolicy = new AtomicBoolean();

  ServerCheck(String address, Clock clock) {
    this.address = address;
    this.clock = clock;
  }

  /**
   * Examines a server on a connection to it.
   *
   * @throws NodeException if the server is unfit
   */
  void of(ServerConnection connection) {
    ifAllowed(() -> look(ServerInfo.in(connection.info())));
    ifAllowed(() -> compareClocks(connection));
  }

  private void look(ServerInfo info) {
    if (info.isSentinel()) {
      throw NodeException.misconfigured(ServerError.SENTINEL);
    }
    if (info.isReplica()) {
      throw NodeException.misconfigured(
          "it is a replica of " + info.master() + ": give the master");
    }
    String policy = info.evictionPolicy();
    // the other policies take keys with a time to live alone, and these locks have none
    if (policy.startsWith("allkeys") && warnedOfPolicy.compareAndSet(false, true)) {
      LOG.log(
          Level.WARNING,
          "node {0} has maxmemory-policy {1}, which can evict lock keys: set noeviction",
          address,
          policy);
    }
  }

  /**
   * Compares the clocks. The server read its clock at some time between two readings of the local
   * clock.
   */
  private void compareClocks(ServerConnection connection) {
    long before = clock.wallMicros();
    long server = connection.time();
    long after = clock.wallMicros();
    long ahead = server < before ? before - server : Math.min(0, after - server);
    if (Math.abs(ahead) > MAX_MICROS_APART && warnedOfClock.compareAndSet(false, true)) {
      LOG.log(
          Level.WARNING,
          "the clock of this machine is {0} s {1} that of node {2}: clients with clocks apart can"
              + " hold the same lock; set both clocks, by NTP for example",
          BigDecimal.valueOf(Math.abs(ahead), 6).setScale(1, RoundingMode.HALF_UP).toPlainString(),
          ahead > 0 ? "ahead of" : "behind",
          address);
    }
  }

  private static void ifAllowed(Runnable look) {
    try {
      look.run();
    } catch (JedisDataException refused) {
      if (!String.valueOf(refused.getMessage()).startsWith("NOPERM")) {
        throw refused;
      }
    }
  }
}
