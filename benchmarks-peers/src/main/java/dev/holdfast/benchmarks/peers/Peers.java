package dev.holdfast.benchmarks.peers;

import dev.holdfast.benchmarks.Kind;
import dev.holdfast.benchmarks.Kind.Family;
import dev.holdfast.benchmarks.Kind.Reach;
import dev.holdfast.benchmarks.Machine;
import dev.holdfast.benchmarks.Roster;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Other people's locks that need more libraries than ours. */
public final class Peers implements Roster {
  @Override
  public List<Kind> kinds() {
    return List.of(
        kind(
            "spring-spin",
            "Spring RedisLockRegistry, spin",
            Set.of(),
            uris -> new SpringLocks(uris, RedisLockType.SPIN_LOCK)),
        kind(
            "spring-pubsub",
            "Spring RedisLockRegistry, pub/sub",
            Set.of(),
            uris -> new SpringLocks(uris, RedisLockType.PUB_SUB_LOCK)),
        kind("shedlock", "ShedLock, polled", Set.of("set"), ShedLocks::new));
  }

  @Override
  public Map<String, String> versions() {
    return Map.of(
        "Spring Integration",
        Machine.version(RedisLockRegistry.class),
        "ShedLock",
        Machine.version(RedisLockProvider.class));
  }

  private static Kind kind(String id, String label, Set<String> commands, Kind.Opener opener) {
    return new Kind(id, label, Family.PEER, Reach.ONE_NODE, Set.of(), commands, opener);
  }
}
