package dev.holdfast.legacy.setnx;

import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockStatus;
import dev.holdfast.LockVotes;
import dev.holdfast.LossReason;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ClockReading;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.Validity;
import dev.holdfast.legacy.internal.UndeclaredExtension;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisDataException;

/** The lock of the SETNX command's page, command for command, with nothing added to it. */
final class SetnxPrimitive implements LockPrimitive, UndeclaredExtension {
  /** A lock that is released between two commands is asked for once more, from the start. */
  private static final int MAX_TURNS = 2;

  private static final int MAX_SHOWN = 40;
  private static final Refusal REFUSED = new Refusal(new LockVotes(0, 1, 0));

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

  /** Returns none: the lock has no token and no time to live, and its server compares nothing. */
  @Override
  public Set<LockCapability> capabilities() {
    return Set.of();
  }

  @Override
  public void requireName(String name) {
    settings.keyPrefix().requireName(name);
  }

  @Override
  public void requireUsable(String name, Duration ttl) {
    settings.validity().requireUsable(ttl);
  }

  @Override
  public CompletableFuture<Outcome> attempt(Attempt attempt) {
    Acquire acquire = new Acquire(attempt.name(), attempt.ttl());
    attempt.progress().outage(acquire::outageSoFar);
    return server
        .open()
        .handle((up, failure) -> true) // a server that was down then may be up by now
        .thenCompose(
            now -> {
              Duration validity = validityOf(attempt.ttl());
              boolean isShorter = validity.compareTo(settings.quorumTimeout()) < 0;
              Duration limit = isShorter ? validity : settings.quorumTimeout();
              if (validity.compareTo(settings.nodeTimeout()) < 0) {
                attempt.progress().limitedByTtl();
              }
              String silence = SetnxServer.noAnswerWithin(limit);
              return server.run(
                  limit,
                  isShorter ? silence + ofTtl(attempt.ttl()) : silence,
                  noReply(attempt.name()),
                  false,
                  new SerialTasks(),
                  acquire);
            });
  }

  private static String noReply(String name) {
    return "the server did not tell whether '" + name + "' is free";
  }

  private static String ofTtl(Duration ttl) {
    return ", which is all that a ttl of " + ttl.toMillis() + " ms leaves";
  }

  @Override
  public Duration longestOperation() {
    return settings.connectTimeout().plus(settings.quorumTimeout());
  }

  private Duration validityOf(Duration ttl) {
    ClockReading start = clock.now();
    return Duration.ofNanos(start.nanosUntil(settings.validity().until(start, ttl)));
  }

  /** The algorithm of the page. */
  private final class Acquire implements SetnxServer.Operation<Outcome> {
    private final String name;
    private final String key;
    private final Duration ttl;
    private final long begun = clock.nanos();
    private volatile boolean answered;

    Acquire(String name, Duration ttl) {
      this.name = name;
      this.key = keyOf(name);
      this.ttl = ttl;
    }

    @Override
    public Outcome ask(ServerConnection connection, BooleanSupplier late) {
      ClockReading start = clock.now();
      for (int turn = 0; turn < MAX_TURNS && !late.getAsBoolean(); turn++) {
        Stamp stamp = stampOf(ttl);
        boolean isFree = connection.setnx(key, stamp.text());
        answered = true;
        if (isFree) {
          return granted(connection, stamp, start);
        }
        long asked = clock.wallMicros();
        Optional<Stamp> held = read(key, () -> Optional.ofNullable(connection.get(key)));
        if (held.isPresent()) {
          return isExpired(held.get(), asked) && !late.getAsBoolean()
              ? takeOver(connection, start)
              : REFUSED;
        }
      }
      return REFUSED;
    }

    /** Returns null while the answer is not late yet, and once the server has answered. */
    @Nullable LockException outageSoFar() {
      Duration unanswered = Duration.ofNanos(clock.nanos() - begun);
      if (answered || unanswered.compareTo(settings.nodeTimeout()) < 0) {
        return null;
      }
      NodeException silence = NodeException.passing(SetnxServer.noAnswerWithin(unanswered));
      return new LockOutageException(noReply(name), Map.of(server.address(), silence), false);
    }

    /** Takes an expired lock over: one client finds the expired stamp in its GETSET's reply. */
    private Outcome takeOver(ServerConnection connection, ClockReading start) {
      long asked = clock.wallMicros();
      Stamp stamp = stampOf(ttl);
      Optional<Stamp> before =
          read(key, () -> Optional.ofNullable(connection.getset(key, stamp.text())));
      return before.isEmpty() || isExpired(before.get(), asked)
          ? granted(connection, stamp, start)
          : REFUSED;
    }

    private Outcome granted(ServerConnection connection, Stamp stamp, ClockReading start) {
      SetnxGrant grant = new SetnxGrant(name, key, stamp, settings.validity().until(start, ttl));
      if (clock.now().nanosUntil(grant.validUntil()) > 0) {
        return grant;
      }
      delete(connection, grant);
      throw Validity.tooLate(name, ttl);
    }

    @Override
    public Optional<Consumer<ServerConnection>> undo(Outcome outcome) {
      return outcome instanceof SetnxGrant grant
          ? Optional.of(connection -> delete(connection, grant))
          : Optional.empty();
    }
  }

  /**
   * Extends by writing a new stamp. The pattern has no extension, and this one cannot distinguish
   * its own stamp from the stamp of another owner who came after a removal. Therefore the
   * capability is not declared. A migration uses it, because there the new lock is compared.
   */
  @Override
  public CompletableFuture<Extension> extend(Grant grant, Duration ttl) {
    SetnxGrant ours = (SetnxGrant) grant;
    return server.run(
        "the server did not answer the extension of '" + ours.name() + "'",
        true,
        ours.line(),
        (connection, late) -> extend(connection, ours, ttl, late));
  }

  /** Reads the stamp before it writes, because GETSET overwrites any stamp. */
  private Extension extend(
      ServerConnection connection, SetnxGrant ours, Duration ttl, BooleanSupplier late) {
    ClockReading start = clock.now();
    Optional<Stamp> held = read(ours.key(), () -> Optional.ofNullable(connection.get(ours.key())));
    long asked = clock.wallMicros();
    long left = ours.stamp().micros() - asked;
    if (left <= settings.clockMargin().toNanos() / 1_000 || late.getAsBoolean()) {
      return new Lost(LossReason.EXPIRED);
    }
    if (ours.isReleased()) {
      return new Lost(LossReason.REMOVED); // a GETSET would only make the DEL wait
    }
    if (held.isEmpty() || isExpired(held.get(), start.wallMicros())) {
      return lost(ours, held);
    }
    Stamp next = stampOf(ttl);
    Stamp later = next.micros() > ours.stamp().micros() ? next : ours.stamp();
    Optional<Stamp> before =
        read(ours.key(), () -> Optional.ofNullable(connection.getset(ours.key(), later.text())));
    if (late.getAsBoolean()) {
      return new Lost(
          LossReason.EXPIRED); // no caller sees this: the lease ends as its holder knows it
    }
    ours.rewritten(later);
    if (before.isEmpty() || isExpired(before.get(), asked)) {
      delete(connection, ours); // the stamp that GETSET has just written
      return lost(ours, before);
    }
    return new Extended(settings.validity().until(start, ttl));
  }

  private static Lost lost(SetnxGrant ours, Optional<Stamp> found) {
    ours.seenGone();
    return new Lost(found.isEmpty() ? LossReason.REMOVED : LossReason.TAKEN);
  }

  @Override
  public CompletableFuture<Released> release(Release release) {
    SetnxGrant ours = (SetnxGrant) release.grant();
    ours.released();
    return server
        .run(
            "the server did not answer the release of '" + ours.name() + "'",
            true,
            ours.line(),
            new Deletion(ours))
        .thenApply(loss -> new Released(loss, Released.UNKNOWN));
  }

  /**
   * A deletion that is sent even when its caller has gone, but never a second time. It is unknown
   * whether the first DEL was carried out, and another owner's stamp can be equal to ours.
   */
  private final class Deletion implements SetnxServer.Operation<Optional<LossReason>> {
    private final SetnxGrant ours;

    Deletion(SetnxGrant ours) {
      this.ours = ours;
    }

    @Override
    public Optional<LossReason> ask(ServerConnection connection, BooleanSupplier late) {
      if (ours.isGone()) {
        return Optional.of(LossReason.REMOVED);
      }
      ours.seenGone(); // whatever becomes of the DEL
      return delete(connection, ours);
    }

    @Override
    public boolean isBegunLate() {
      return true;
    }
  }

  /** Deletes the key. Its owner is unknown, only whether our stamp still excludes other owners. */
  private Optional<LossReason> delete(ServerConnection connection, SetnxGrant ours) {
    boolean passed = StampFormat.hasPassed(ours.stamp(), clock.wallMicros());
    boolean removed = (!passed || settings.alwaysDeletes()) && connection.del(ours.key());
    if (passed) {
      return Optional.of(LossReason.EXPIRED);
    }
    return removed ? Optional.empty() : Optional.of(LossReason.REMOVED);
  }

  @Override
  public String backend() {
    return "setnx";
  }

  @Override
  public String address() {
    return server.address();
  }

  /** Reads a key that no lock has. */
  @Override
  public CompletableFuture<Boolean> ping(String name) {
    return server
        .<Boolean>run(
            "the server did not answer a ping",
            false,
            new SerialTasks(),
            (connection, late) -> {
              connection.get(keyOf(name));
              return true;
            })
        .exceptionally(
            failure -> {
              if (failure instanceof LockConfigurationException mistake) {
                throw mistake;
              }
              return false;
            });
  }

  @Override
  public CompletableFuture<Optional<LockStatus>> inspect(String name) {
    return CompletableFuture.failedFuture(undeclared(LockCapability.INSPECTION));
  }

  @Override
  public CompletableFuture<Boolean> forceRelease(String name) {
    return CompletableFuture.failedFuture(undeclared(LockCapability.FORCE_RELEASE));
  }

  @Override
  public void close() {
    try {
      server.close();
    } finally { // also if the driver throws
      afterClose.run();
    }
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

  /**
   * Returns whether a stamp had expired when it was requested. The time of the reply does not
   * count, because a live stamp can expire before the reply arrives.
   */
  private boolean isExpired(Stamp stamp, long askedMicros) {
    return settings.format().isExpired(stamp, askedMicros);
  }

  /** Reads a value, which may be something else than a stamp. */
  private Optional<Stamp> read(String key, Supplier<Optional<String>> reply) {
    String value;
    try {
      Optional<String> present = reply.get();
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

  private static String shown(String value) {
    String printable = value.replaceAll("[\\p{Cc}\\p{Cf}]", "\uFFFD");
    return printable.length() <= MAX_SHOWN ? printable : printable.substring(0, MAX_SHOWN) + "…";
  }

  private String keyOf(String name) {
    return settings.keyPrefix().keyOf(name);
  }
}
