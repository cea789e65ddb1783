package dev.holdfast.tck.rules;

import dev.holdfast.LockCapability;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The values of a {@link History}. */
final class HistoryValues {
  private static final int MAX_NAME = 1024;

  private static final List<String> LABELS =
      List.of(
          "a",
          "Łódź 東京",
          "a b",
          "{\"x\": 'y'}",
          "back\\slash",
          "100 %s",
          "app-1:4711",
          "🔒",
          "l".repeat(256));

  private HistoryValues() {}

  /** Returns names that are easily taken for each other. */
  static List<String> names(String base) {
    return List.of(
        base,
        base + " ",
        base + ":",
        base + ":1",
        base + "*",
        "{" + base + "}",
        base.toUpperCase(Locale.ROOT),
        base + "é",
        base + "e\u0301",
        base + "🔒",
        base + "AaBB",
        base + "BBAa",
        base + "x".repeat(MAX_NAME - base.length()));
  }

  static String label(Seed seed) {
    return seed.oneOf(LABELS);
  }

  /** Returns a ttl that no history outlasts: less than twice the usual one. */
  static Duration ttl(TckFixture fixture, Seed seed) {
    return fixture.ttl().plusMillis(seed.below((int) fixture.ttl().toMillis()));
  }

  /** Returns a ttl whose end a history waits for. */
  static Duration shortTtl(TckFixture fixture, Seed seed) {
    Duration ttl = fixture.briefTtl();
    return ttl.plusMillis(seed.below((int) ttl.toMillis()));
  }

  /** Returns a time for which a lock is held at least: one that passes soon, or never. */
  static Duration minimum(TckFixture fixture, Seed seed) {
    return seed.nextBoolean() ? Duration.ofMillis(1 + seed.below(60)) : ttl(fixture, seed);
  }

  /** Returns a request without a wait. */
  static LockRequest request(TckFixture fixture, Seed seed, String name) {
    LockRequest request = LockRequest.of(name, ttl(fixture, seed));
    if (seed.nextBoolean()) {
      request = request.ownerLabel(label(seed));
    }
    if (fixture.declares(LockCapability.KEEP_ALIVE) && seed.below(4) == 0) {
      request = request.keepAliveUpTo(Duration.ofHours(1));
    }
    if (fixture.declares(LockCapability.HOLD_AT_LEAST) && seed.below(6) == 0) {
      request = request.holdAtLeast(minimum(fixture, seed));
    }
    return request;
  }
}
