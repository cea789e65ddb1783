package dev.holdfast.tck;

import dev.holdfast.LockManager;
import dev.holdfast.LockStatus;
import dev.holdfast.core.Clock;
import dev.holdfast.memory.MemoryLocks;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.env.SteppedClock;
import dev.holdfast.tck.env.TckClock;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Managers that share a store in this process, which is the one node. */
public final class MemoryEnvironment implements TckEnvironment {
  private final SteppedClock clock = new SteppedClock();
  private final LockManager observer = MemoryLocks.builder().clock(Clock.withWall(clock)).open();
  private final MemoryStore store = observer.unwrap(MemoryStore.class).orElseThrow();
  private final List<TckNode> nodes = List.of(new Memory());

  private final class Memory implements TckNode {
    @Override
    public String address() {
      return "memory";
    }

    @Override
    public Optional<String> holder(String name) {
      return store.holder(name);
    }

    @Override
    public Duration timeToLive(String name) {
      return observer.inspect(name).map(LockStatus::remaining).orElse(Duration.ZERO);
    }

    @Override
    public void occupy(String name, String token, Duration ttl) {
      store.steal(name, token, ttl);
    }

    @Override
    public void remove(String name) {
      store.remove(name);
    }
  }

  @Override
  public LockManager open(Map<String, String> options) {
    LockUrl url = LockUrl.parse("memory:", options);
    MemoryLocks.Builder builder =
        MemoryLocks.builder()
            .store(store)
            .retryDelay(url.duration("retryDelay", MemoryLocks.DEFAULT_RETRY_DELAY))
            .maxTtl(url.duration("maxTtl", Duration.ofSeconds(60)));
    return options.containsKey("owner")
        ? builder.ownerLabel(url.text("owner", "")).open()
        : builder.open();
  }

  @Override
  public List<TckNode> nodes() {
    return nodes;
  }

  @Override
  public boolean isIsolated() {
    return true;
  }

  @Override
  public boolean hasNodeOptions() {
    return false;
  }

  @Override
  public Optional<TckClock> clock() {
    return Optional.of(clock);
  }

  @Override
  public void close() {
    observer.close();
  }
}
