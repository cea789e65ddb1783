package dev.holdfast.legacy.migrate;

import dev.holdfast.LockManager;
import dev.holdfast.LockStatus;
import dev.holdfast.core.Clock;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.memory.MemoryLocks;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.SteppedClock;
import dev.holdfast.tck.env.TckClock;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The kit over two exact locks, looked at from both sides. */
class MemoryMigrationTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    return new TwoStores();
  }

  private static final class TwoStores implements TckEnvironment {
    private final SteppedClock wall = new SteppedClock();
    private final Clock clock = Clock.withWall(wall);
    private final LockManager oldLocks = MemoryLocks.builder().clock(clock).open();
    private final LockManager newLocks = MemoryLocks.builder().clock(clock).open();
    private final MemoryStore oldStore = oldLocks.unwrap(MemoryStore.class).orElseThrow();
    private final MemoryStore newStore = newLocks.unwrap(MemoryStore.class).orElseThrow();

    @Override
    public LockManager open(Map<String, String> options) {
      ManagerOptions read = // before anything is opened that a wrong option would leave open
          ManagerOptions.defaults()
              .clock(clock)
              .retryDelay(MemoryLocks.DEFAULT_RETRY_DELAY)
              .read(LockUrl.parse("memory:", options));
      return MigrationLockManager.both(over(oldStore), over(newStore))
          .managerOptions(any -> read)
          .open();
    }

    @Override
    public boolean isIsolated() {
      return true;
    }

    @Override
    public boolean holdsTwoLocks() {
      return true;
    }

    @Override
    public List<TckNode> nodes() {
      return List.of(new TwoSides());
    }

    @Override
    public Optional<TckClock> clock() {
      return Optional.of(wall);
    }

    @Override
    public void close() {
      oldLocks.close();
      newLocks.close();
    }

    private static LockManager over(MemoryStore store) {
      return MemoryLocks.builder().store(store).open();
    }

    /** One place, in which a lock is held as long as it is on either side. */
    private final class TwoSides implements TckNode {
      @Override
      public String address() {
        return "memory";
      }

      @Override
      public Optional<String> holder(String name) {
        return newStore.holder(name).or(() -> oldStore.holder(name));
      }

      @Override
      public Duration timeToLive(String name) {
        return newLocks
            .inspect(name)
            .or(() -> oldLocks.inspect(name))
            .map(LockStatus::remaining)
            .orElse(Duration.ZERO);
      }

      @Override
      public void occupy(String name, String token, Duration ttl) {
        oldStore.steal(name, token, ttl);
        newStore.steal(name, token, ttl);
      }

      @Override
      public void remove(String name) {
        oldStore.remove(name);
        newStore.remove(name);
      }
    }
  }
}
