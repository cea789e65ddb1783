package dev.holdfast.legacy.setnx;

import dev.holdfast.core.Clock;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/**
 * A server as a client of the fleet sees it: a lock is held until its stamp is older than the
 * current time. Reads and writes stamps by itself, so that it shares no mistake with the module.
 */
final class StampNode implements TckNode {
  /** Longer than any stamp lasts here: the server forgets nothing by itself. */
  private static final Duration LONG = Duration.ofHours(1);

  private final TckNode server;
  private final Stamps stamps;
  private final Clock clock;
  private final Map<String, Occupied> occupied = new HashMap<>();

  /**
   * The form of stamps.
   *
   * @param micros in one unit
   * @param floating whether they have a fraction
   */
  record Stamps(long micros, boolean floating) {}

  /** A stamp that the kit wrote, and its token: a stamp has no room for an owner's name. */
  private record Occupied(String stamp, String token) {}

  StampNode(TckNode server, Stamps stamps, Clock clock) {
    this.server = server;
    this.stamps = stamps;
    this.clock = clock;
  }

  @Override
  public Optional<String> holder(String name) {
    Optional<String> value = server.holder(name).filter(stamp -> left(stamp) > 0);
    Occupied known = occupied.get(name);
    return value.map(stamp -> known != null && known.stamp.equals(stamp) ? known.token : stamp);
  }

  @Override
  public Duration timeToLive(String name) {
    return server
        .holder(name)
        .map(stamp -> Duration.ofNanos(Math.max(0, left(stamp)) * 1_000))
        .orElse(Duration.ZERO);
  }

  @Override
  public void occupy(String name, String token, Duration ttl) {
    BigDecimal end =
        BigDecimal.valueOf(clock.wallMicros() + ttl.toNanos() / 1_000)
            .divide(BigDecimal.valueOf(stamps.micros));
    String stamp = (stamps.floating ? end : end.setScale(0, RoundingMode.UP)).toPlainString();
    occupied.put(name, new Occupied(stamp, token));
    server.occupy(name, stamp, LONG);
  }

  @Override
  public void remove(String name) {
    occupied.remove(name);
    server.remove(name);
  }

  @Override
  public String address() {
    return server.address();
  }

  @Override
  public String uri() {
    return server.uri();
  }

  @Override
  public Optional<String> alias() {
    return server.alias();
  }

  @Override
  public Set<TckFault> faults() {
    return server.faults();
  }

  @Override
  public void begin(TckFault fault, String name) {
    server.begin(fault, name);
  }

  @Override
  public void end(TckFault fault, String name) {
    server.end(fault, name);
  }

  @Override
  public OptionalLong requests() {
    return server.requests();
  }

  @Override
  public OptionalInt connections() {
    return server.connections();
  }

  @Override
  public Optional<TckLink> link() {
    return server.link();
  }

  /** Microseconds until the stamp is older than the current time, in whole units if it is whole. */
  private long left(String stamp) {
    long micros = new BigDecimal(stamp).multiply(BigDecimal.valueOf(stamps.micros)).longValue();
    long end = stamps.floating ? micros : micros + stamps.micros;
    return end - clock.wallMicros();
  }
}
