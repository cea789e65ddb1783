package dev.holdfast.chaos;

import static dev.holdfast.chaos.Settings.QUORUM_TIMEOUT;

import dev.holdfast.Lease;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/** Takes one lock again and again, each time in another way, and works while it holds it. */
final class Holder implements Runnable {
  private static final int SHORTEST_TTL_MILLIS = 500;
  private static final int LONGEST_WAIT_MILLIS = 800;
  private static final int LONGEST_MIN_HOLD_MILLIS = 200;
  private static final int LONGEST_STALL_MILLIS = 500;
  private static final Duration MAX_HOLD = Duration.ofSeconds(3);

  private final String client;
  private final String name;
  private final LockManager locks;
  private final Notes notes;
  private final RandomGenerator random;
  private volatile boolean ending;

  Holder(String client, String name, LockManager locks, Notes notes, RandomGenerator random) {
    this.client = client;
    this.name = name;
    this.locks = locks;
    this.notes = notes;
    this.random = random;
  }

  /** Lets go of what it has, and takes nothing more. */
  void end() {
    ending = true;
  }

  @Override
  public void run() {
    while (!ending) {
      try {
        LockRequest request = request();
        Optional<Lease> lease =
            notes.timed(
                "acquire",
                request.waitAtMost().orElse(Duration.ZERO).plus(Settings.attempt(request.ttl())),
                () -> locks.tryAcquire(request));
        if (lease.isPresent()) {
          use(lease.get(), request);
        }
      } catch (LockException e) {
        pause(20);
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
      pause(10);
    }
  }

  private void use(Lease lease, LockRequest request) throws Exception {
    long got = System.nanoTime();
    if (notes.got(client, lease)) {
      work(lease, request.keepAliveUpTo().isPresent());
      leave(lease, request, got);
    } else {
      lease.close();
    }
  }

  private LockRequest request() {
    LockRequest request = LockRequest.of(name, ttl());
    if (happens(80)) {
      request = request.waitAtMost(Duration.ofMillis(random.nextInt(LONGEST_WAIT_MILLIS)));
    }
    if (happens(20)) {
      request = request.keepAliveUpTo(MAX_HOLD);
    }
    return happens(10)
        ? request.holdAtLeast(Duration.ofMillis(random.nextInt(LONGEST_MIN_HOLD_MILLIS)))
        : request;
  }

  private Duration ttl() {
    return Duration.ofMillis(
        random.nextInt(SHORTEST_TTL_MILLIS, (int) Settings.MAX_TTL.toMillis() + 1));
  }

  private void work(Lease lease, boolean isKept) throws Exception {
    for (int step = random.nextInt(1, 4); step > 0; step--) {
      long read = notes.read();
      if (!notes.held(lease)) {
        return;
      }
      if (happens(2)) {
        // as a long pause of the garbage collector would
        pause((int) lease.remaining().toMillis() + LONGEST_STALL_MILLIS);
      }
      notes.wrote(lease, read);
      if (happens(15)) {
        extend(lease, isKept);
      }
      pause(happens(3) ? LONGEST_STALL_MILLIS : 5);
    }
  }

  private void extend(Lease lease, boolean isKept) throws Exception {
    try {
      notes.timed(
          "extend",
          Settings.extension(lease.remaining(), isKept),
          () -> {
            lease.extend(ttl());
            return true;
          });
      notes.held(lease);
    } catch (LockException e) {
      // lost or out of reach: the lease itself knows what is left
    }
  }

  /** Releases it, or forgets it as a careless program would. */
  private void leave(Lease lease, LockRequest request, long got) throws Exception {
    if (request.keepAliveUpTo().isEmpty() && happens(2)) {
      return;
    }
    notes.ending(lease);
    notes.timed("release", QUORUM_TIMEOUT, lease::release);
    notes.released(lease, got + request.holdAtLeast().toNanos());
  }

  private boolean happens(int percent) {
    return random.nextInt(100) < percent;
  }

  private void pause(int atMostMillis) {
    LockSupport.parkNanos(random.nextLong(atMostMillis * 1_000_000L));
  }
}
