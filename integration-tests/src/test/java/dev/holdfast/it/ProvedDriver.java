package dev.holdfast.it;

import dev.holdfast.LockManager;
import dev.holdfast.core.Clock;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.env.SteppedClock;
import dev.holdfast.tck.redis.RedisTckEnvironment;

/** How the builder of a driver opens what a URL says: so that it can be given a clock. */
@FunctionalInterface
interface ProvedDriver {
  LockManager open(LockUrl url, RedlockOptions options);

  /** Five servers, and managers with a wall clock that can be set. */
  default RedisTckEnvironment environment(Backend backend) {
    SteppedClock clock = new SteppedClock();
    return backend
        .environment()
        .clock(clock)
        .opener(
            (uris, options) -> {
              LockUrl url = LockUrl.parse(backend.urlOf(uris), options);
              url.requireKnownOptions(RedlockOptions.NAMES);
              // the kit empties and restarts nodes, which the guard would hold against them
              RedlockOptions parsed = RedlockOptions.from(url).clock(Clock.withWall(clock));
              return open(
                  url, options.containsKey("restartGuard") ? parsed : parsed.restartGuard(false));
            })
        .build();
  }
}
