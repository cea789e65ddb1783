package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.Kind.Ability;
import dev.holdfast.benchmarks.Kind.Family;
import dev.holdfast.benchmarks.Kind.Reach;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.BiFunction;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** All kinds of locks that are here to be measured. */
final class Kinds {
  static final String FLOOR = "floor";

  private static final Set<String> SET = Set.of("set");

  private Kinds() {}

  /** Returns the kinds of this module, and those that other modules add. */
  static List<Kind> all() {
    List<Kind> all = new ArrayList<>();
    all.add(raw(FLOOR, "raw Lettuce (the floor)", Set.of(Ability.ASYNC), RawLettuce::new));
    all.add(raw("floor-again", "the floor once more", Set.of(Ability.ASYNC), RawLettuce::new));
    all.add(raw("raw-jedis", "raw Jedis", Set.of(), RawJedis::new));
    for (String driver : List.of("lettuce", "jedis", "redisson")) {
      all.add(ours(driver, "plain", Ours.PLAIN, SET));
      all.add(ours(driver, "safe", Ours.SAFE, Set.of()));
    }
    all.add(redisson("rlock", "Redisson RLock", RedissonClient::getLock));
    all.add(redisson("rfencedlock", "Redisson RFencedLock", RedissonClient::getFencedLock));
    all.add(redisson("rspinlock", "Redisson RSpinLock", RedissonClient::getSpinLock));
    all.add(
        new Kind(
            "redissonredlock",
            "RedissonRedLock",
            Family.PEER,
            Reach.MAJORITY,
            Set.of(Ability.KEEP),
            Set.of(),
            RedissonLocks::redlock));
    ServiceLoader.load(Roster.class).forEach(roster -> all.addAll(roster.kinds()));
    return List.copyOf(all);
  }

  /** Returns the kind of lock with this id. */
  static Kind of(String id) {
    return all().stream().filter(kind -> kind.id().equals(id)).findFirst().orElseThrow();
  }

  private static Kind raw(String id, String label, Set<Ability> abilities, Kind.Opener opener) {
    return new Kind(id, label, Family.FLOOR, Reach.ANY, abilities, SET, opener);
  }

  private static Kind ours(
      String driver, String mode, Map<String, String> options, Set<String> commands) {
    return new Kind(
        driver + "-" + mode,
        "Holdfast, " + driver + ", " + mode,
        Family.OURS,
        Reach.ANY,
        Set.of(Ability.ASYNC, Ability.KEEP),
        commands,
        uris -> new Ours(driver, uris, options));
  }

  private static Kind redisson(
      String id, String label, BiFunction<RedissonClient, String, RLock> lock) {
    return new Kind(
        id,
        label,
        Family.PEER,
        Reach.ONE_NODE,
        Set.of(),
        Set.of(),
        uris -> RedissonLocks.single(uris, lock));
  }
}
