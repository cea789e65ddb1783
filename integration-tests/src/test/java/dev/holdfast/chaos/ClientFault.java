package dev.holdfast.chaos;

import java.time.Duration;
import java.util.random.RandomGenerator;

/** A fault of clients. */
@SuppressWarnings("ImmutableEnumChecker") // the effect of a fault changes the world, not the fault
enum ClientFault {
  PAUSED(
      (fleet, random) -> {
        ClientProcess client = fleet.any(random);
        client.pause();
        return client::goOn;
      }),
  PAUSED_FOR_LONGER_THAN_A_TTL(
      (fleet, random) -> {
        ClientProcess client = fleet.any(random);
        client.pause();
        long until = System.nanoTime() + Settings.MAX_TTL.toNanos();
        return () -> {
          Lapse.until(until);
          client.goOn();
        };
      }),
  ALL_PAUSED(
      (fleet, random) -> {
        fleet.all().forEach(ClientProcess::pause);
        return () -> fleet.all().forEach(ClientProcess::goOn);
      }),
  STUTTERING(
      (fleet, random) -> {
        ClientProcess client = fleet.any(random);
        for (int i = 0; i < 8; i++) {
          client.pause();
          Lapse.of(Duration.ofNanos(random.nextInt(150_000_000)));
          client.goOn();
          Lapse.of(Duration.ofNanos(random.nextInt(50_000_000)));
        }
        return Healing.BY_ITSELF;
      }),
  KILLED(
      (fleet, random) -> {
        ClientProcess client = fleet.any(random);
        client.kill();
        return () -> fleet.replace(client);
      }),
  ALL_KILLED(
      (fleet, random) -> {
        fleet.all().forEach(ClientProcess::kill);
        return () -> fleet.all().forEach(fleet::replace);
      }),
  CLOCK_SET(
      (fleet, random) -> {
        ClientProcess client = fleet.any(random);
        client.setClock(Duration.ofMillis(random.nextInt(-1_000, 1_000)));
        return () -> client.setClock(Duration.ZERO);
      });

  private final Deed deed;

  ClientFault(Deed deed) {
    this.deed = deed;
  }

  /** Begins a fault. */
  private interface Deed {
    Healing begin(Fleet fleet, RandomGenerator random) throws Exception;
  }

  Healing begin(Fleet fleet, RandomGenerator random) throws Exception {
    return deed.begin(fleet, random);
  }

  boolean needsShim() {
    return this == CLOCK_SET;
  }
}
