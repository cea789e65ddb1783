package dev.holdfast.legacy.setnx;

import dev.holdfast.LockManager;
import dev.holdfast.core.Clock;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.env.SteppedClock;
import dev.holdfast.tck.env.TckClock;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.env.TckNode;
import dev.holdfast.tck.env.TckTiming;
import dev.holdfast.tck.redis.RedisTckEnvironment;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One real server, whose keys hold time stamps. */
final class SetnxEnvironment implements TckEnvironment {
  private final SteppedClock wall = new SteppedClock();
  private final Clock clock = Clock.withWall(wall);
  private final RedisTckEnvironment redis;
  private final List<TckNode> nodes;
  private final boolean hasUrl;

  /**
   * A new environment.
   *
   * @param format of the URL's options
   * @param stamps the same
   * @param hasUrl whether other processes are started, too
   * @param brokenByDesign why, by the rule's id
   */
  SetnxEnvironment(
      String format, StampNode.Stamps stamps, boolean hasUrl, Map<String, String> brokenByDesign) {
    this.hasUrl = hasUrl;
    String options = "?" + format;
    redis =
        RedisTckEnvironment.builder("setnx:{nodes}" + options)
            .nodes(1)
            .keyPrefix(SetnxLocks.DEFAULT_KEY_PREFIX)
            .opener(
                (uris, more) ->
                    SetnxProvider.builder(
                            LockUrl.parse("setnx:" + String.join(",", uris) + options, more))
                        .clock(clock)
                        .open())
            .clock(wall)
            .brokenByDesign(brokenByDesign)
            .build();
    nodes =
        redis.nodes().stream().<TckNode>map(node -> new StampNode(node, stamps, clock)).toList();
  }

  @Override
  public boolean isIsolated() {
    return redis.isIsolated();
  }

  @Override
  public LockManager open(Map<String, String> options) {
    return redis.open(options);
  }

  @Override
  public LockManager openOn(List<String> uris, Map<String, String> options) {
    return redis.openOn(uris, options);
  }

  @Override
  public List<TckNode> nodes() {
    return nodes;
  }

  @Override
  public Optional<String> url() {
    return redis.url().filter(url -> hasUrl);
  }

  @Override
  public Optional<TckClock> clock() {
    return redis.clock();
  }

  @Override
  public TckTiming timing() {
    return redis.timing();
  }

  @Override
  public Map<String, String> brokenByDesign() {
    return redis.brokenByDesign();
  }

  @Override
  public Map<String, String> facts() {
    return redis.facts();
  }

  @Override
  public void reset() {
    redis.reset();
  }

  @Override
  public void close() {
    redis.close();
  }
}
