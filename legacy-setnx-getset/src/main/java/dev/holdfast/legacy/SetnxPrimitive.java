package dev.holdfast.legacy;

import dev.holdfast.LockBackendException;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockStatus;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.Moment;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import redis.clients.jedis.exceptions.JedisDataException;

/** The lock of the SETNX command's page, command for command, with nothing added to it. */
final class SetnxPrimitive implements LockPrimitive {
  private static final String OWN_KEYS = "holdfast:";

  /** A lock that is released between two commands is asked for once more, from the start. */
  private static final int MOST_TURNS = 2;

  private static final int MOST_SHOWN = 40;
  private static final Refusal REFUSED = new Refusal(0, 1, 0);

  private final SetnxServer server;
  private final Settings settings;
  private final Clock clock;
  private final Runnable afterClose;

  SetnxPrimitive(SetnxServer server, Settings settings, Runnable afterClose) {
    this.server = server;
    this.settings = settings;
    this.clock = settings.clock();
    this.afterClose = afterClose;
  }

  /** No token, no server that compares, no time to live: nothing of what could be declared. */
  @Override
  public Set<LockCapability> capabilities() {
    return Set.of();
  }

  @Override
  public void requireName(String name) {
    if (keyOf(name).startsWith(OWN_KEYS)) {
      throw new LockConfigurationException(
          "the key '"
              + keyOf(name)
              + "' begins with "
              + OWN_KEYS
              + ", as our own keys do: use another name or keyPrefix");
    }
  }

  @Override
  public void requireUsable(String name, Duration ttl) {
    Duration lost = Settings.driftOf(ttl).plus(settings.nodeTimeout());
    if (ttl.compareTo(lost) <= 0) {
      throw new LockConfigurationException(
          "the ttl "
              + ttl.toMillis()
              + " ms is not above nodeTimeout and the allowance for drift, "
              + lost.toMillis()
              + " ms together: ask for more");
    }
  }

  @Override
  public CompletionStage<Outcome> attempt(Attempt attempt) {
    CompletableFuture<Boolean> opened = server.open();
    return opened
        .handle((up, failure) -> true) // a server that was down then may be up by now
        .thenCompose(
            now ->
                server.run(
                    "the server did not tell whether '" + attempt.name() + "' is free",
                    false,
                    new Acquire(attempt.name(), attempt.ttl())));
  }

  /** The algorithm of the page. */
  private final class Acquire implements SetnxServer.Operation<Outcome> {
    private final String name;
    private final String key;
    private final Duration ttl;

    Acquire(String name, Duration ttl) {
      this.name = name;
      this.key = keyOf(name);
      this.ttl = ttl;
    }

    @Override
    public Outcome ask(Wire wire, BooleanSupplier late) {
      Moment start = clock.now();
      for (int turn = 0; turn < MOST_TURNS && !late.getAsBoolean(); turn++) {
        Stamp stamp = stampOf(ttl);
        if (wire.setnx(key, stamp.text())) {
          return granted(wire, stamp, start);
        }
        Optional<Stamp> held = read(key, () -> Optional.ofNullable(wire.get(key)));
        if (held.isPresent()) {
          return isExpired(held.get()) && !late.getAsBoolean() ? takeOver(wire, start) : REFUSED;
        }
      }
      return REFUSED;
    }

    /** Of those who see that it has expired, one finds the expired stamp again in the reply. */
    private Outcome takeOver(Wire wire, Moment start) {
      Stamp stamp = stampOf(ttl);
      Optional<Stamp> before = read(key, () -> Optional.ofNullable(wire.getset(key, stamp.text())));
      return before.isEmpty() || isExpired(before.get()) ? granted(wire, stamp, start) : REFUSED;
    }

    private Outcome granted(Wire wire, Stamp stamp, Moment start) {
      SetnxGrant grant = new SetnxGrant(name, key, stamp, validUntil(start, ttl));
      if (clock.now().nanosUntil(grant.validUntil()) > 0) {
        return grant;
      }
      undo(wire, grant);
      return new Refusal(1, 0, 0);
    }

    @Override
    public void undo(Wire wire, Outcome outcome) {
      if (outcome instanceof SetnxGrant grant) {
        delete(wire, grant);
      }
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>The pattern has no extension, and this one cannot tell its own stamp from that of another
   * owner who came after a removal; so none is declared. It serves a migration, in which the new
   * lock is the one that is compared.
   */
  @Override
  public CompletionStage<Extension> extend(Grant grant, Duration ttl, boolean callerWaits) {
    SetnxGrant ours = (SetnxGrant) grant;
    return server.run(
        "the server did not answer the extension of '" + ours.name() + "'",
        true,
        (wire, late) -> {
          Moment start = clock.now();
          long left = ours.stamp().micros() - start.wallMicros();
          if (left <= settings.clockMargin().toNanos() / 1_000 || late.getAsBoolean()) {
            return new Lost(LossReason.EXPIRED);
          }
          Stamp asked = stampOf(ttl);
          Stamp later = asked.micros() > ours.stamp().micros() ? asked : ours.stamp();
          Optional<Stamp> before =
              read(ours.key(), () -> Optional.ofNullable(wire.getset(ours.key(), later.text())));
          if (before.isEmpty()) {
            wire.del(ours.key());
            return new Lost(LossReason.REMOVED);
          }
          if (isExpired(before.get())) {
            return new Lost(LossReason.TAKEN);
          }
          ours.rewritten(later);
          return new Extended(validUntil(start, ttl));
        });
  }

  @Override
  public CompletionStage<Optional<LossReason>> release(
      Grant grant, Duration keep, boolean callerWaits) {
    SetnxGrant ours = (SetnxGrant) grant;
    String message = "the server did not answer the release of '" + ours.name() + "'";
    return server
        .run(message, true, (wire, late) -> delete(wire, ours))
        .exceptionallyCompose(
            failure ->
                hasBrokenConnection(failure)
                    ? server.run(message, true, (wire, late) -> deleteOnceMore(wire, ours))
                    : CompletableFuture.failedFuture(failure));
  }

  /** Whose key that is, cannot be known; only whether our stamp still keeps the others out. */
  private Optional<LossReason> delete(Wire wire, SetnxGrant ours) {
    boolean passed = StampFormat.hasPassed(ours.stamp(), clock.wallMicros());
    boolean removed = (!passed || settings.alwaysDeletes()) && wire.del(ours.key());
    if (passed) {
      return Optional.of(LossReason.EXPIRED);
    }
    return removed ? Optional.empty() : Optional.of(LossReason.REMOVED);
  }

  /**
   * Nobody knows whether the first one was carried out. If it was, the key may be another owner's
   * by now: so it is deleted only while it holds our stamp. If it does not, the first one was.
   */
  private Optional<LossReason> deleteOnceMore(Wire wire, SetnxGrant ours) {
    return ours.stamp().text().equals(wire.get(ours.key())) ? delete(wire, ours) : Optional.empty();
  }

  private static boolean hasBrokenConnection(Throwable failure) {
    Throwable cause = failure instanceof LockBackendException ? failure.getCause() : null;
    return cause instanceof NodeException why && why.isBrokenConnection();
  }

  @Override
  public CompletionStage<Optional<LockStatus>> inspect(String name) {
    return CompletableFuture.failedFuture(undeclared(LockCapability.INSPECTION));
  }

  @Override
  public CompletionStage<Boolean> forceRelease(String name) {
    return CompletableFuture.failedFuture(undeclared(LockCapability.FORCE_RELEASE));
  }

  @Override
  public void close() {
    server.close();
    afterClose.run();
  }

  private static LockConfigurationException undeclared(LockCapability capability) {
    return new LockConfigurationException("a lock of time stamps has no " + capability);
  }

  private Stamp stampOf(Duration ttl) {
    long end = clock.wallMicros() + ttl.plusNanos(999).toNanos() / 1_000;
    try {
      return settings.format().ofHold(end);
    } catch (WrongStamp wrong) {
      throw new LockConfigurationException(
          "the end of a hold, " + end + " microseconds since 1970, " + wrong.getMessage(), wrong);
    }
  }

  private boolean isExpired(Stamp stamp) {
    return settings.format().isExpired(stamp, clock.wallMicros());
  }

  /** Where a value is read, and what it may be instead of a stamp. */
  private Optional<Stamp> read(String key, Reply reply) {
    String value;
    try {
      Optional<String> present = reply.value();
      if (present.isEmpty()) {
        return Optional.empty();
      }
      value = present.get();
    } catch (JedisDataException e) {
      if (String.valueOf(e.getMessage()).startsWith("WRONGTYPE")) {
        throw new LockConfigurationException(
            "the key '"
                + key
                + "' holds no string, so no lock, on "
                + server.address()
                + ": use another name or keyPrefix, or remove the key",
            NodeException.of(e));
      }
      throw e;
    }
    try {
      return Optional.of(settings.format().read(value));
    } catch (WrongStamp wrong) {
      throw new LockConfigurationException(
          "the key '"
              + key
              + "' on "
              + server.address()
              + " holds '"
              + shown(value)
              + "', which "
              + wrong.getMessage()
              + "; else use another name or keyPrefix, or remove the key",
          wrong);
    }
  }

  /** A reply that is a value, or none. */
  @FunctionalInterface
  private interface Reply {
    Optional<String> value();
  }

  private static String shown(String value) {
    String printable = value.replaceAll("\\p{Cntrl}", "\uFFFD");
    return printable.length() <= MOST_SHOWN ? printable : printable.substring(0, MOST_SHOWN) + "…";
  }

  private static Moment validUntil(Moment start, Duration ttl) {
    return start.plusNanos(ttl.minus(Settings.driftOf(ttl)).toNanos());
  }

  private String keyOf(String name) {
    return settings.keyPrefix() + name;
  }
}
