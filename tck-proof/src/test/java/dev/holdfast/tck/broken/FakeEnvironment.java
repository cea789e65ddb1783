package dev.holdfast.tck.broken;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.core.Clock;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.core.Scheduler;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.env.SteppedClock;
import dev.holdfast.tck.env.TckClock;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.env.TckNode;
import dev.holdfast.tck.env.TckTiming;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

/** Opens managers over fake nodes, of parts that are right or wrong. */
class FakeEnvironment implements TckEnvironment {
  private static final int MAX_NODES = 5;
  private static final Set<String> OPTIONS =
      Set.of(
          "owner",
          "maxTtl",
          "retryDelay",
          "nodeTimeout",
          "quorumTimeout",
          "connectTimeout",
          "connect");

  private final Scheduler network = Scheduler.create("fake-network");
  private final SteppedClock clock = new SteppedClock();
  private final List<FakeNode> nodes;
  private final Parts parts;

  FakeEnvironment(Parts parts) {
    this(MAX_NODES, parts);
  }

  FakeEnvironment(int count, Parts parts) {
    this.parts = parts;
    nodes =
        Stream.generate(parts.keys())
            .limit(count)
            .map(keys -> new FakeNode(network, keys))
            .toList();
  }

  @Override
  public final LockManager open(Map<String, String> options) {
    return openOn(nodes.stream().map(FakeNode::uri).toList(), options);
  }

  @Override
  public final LockManager openOn(List<String> uris, Map<String, String> options) {
    return parts.managers().apply(() -> openRight(uris, options));
  }

  private LockManager openRight(List<String> uris, Map<String, String> options) {
    LockUrl url = LockUrl.parse("fake:", options);
    url.requireKnownOptions(OPTIONS);
    Members members =
        parts
            .rounds()
            .of(
                uris.stream().map(uri -> parts.connections().of(uri, way(uri), network)).toList(),
                network,
                url.duration("connectTimeout", Duration.ofSeconds(2)));
    Clock time = parts.time().apply(Clock.withWall(clock));
    Timeouts timeouts =
        new Timeouts(
            url.duration("nodeTimeout", Duration.ofMillis(50)),
            url.duration("quorumTimeout", Duration.ofSeconds(1)));
    LockManagerBuilder builder =
        LockManagerBuilder.over(parts.primitives().of(members, time, timeouts))
            .clock(time)
            .retryDelay(url.duration("retryDelay", ManagerOptions.DEFAULT_RETRY_DELAY))
            .maxTtl(url.duration("maxTtl", ManagerOptions.DEFAULT_MAX_TTL));
    if (!url.text("owner", "").isEmpty()) {
      builder.ownerLabel(url.text("owner", ""));
    }
    parts.settings().accept(builder);
    LockManager manager = builder.build();
    if (!url.text("connect", "").equals("lazy")) {
      try {
        members.open().join();
      } catch (CompletionException e) {
        manager.close();
        throw (LockException) Objects.requireNonNull(e.getCause());
      }
    }
    return manager;
  }

  @Override
  public final List<TckNode> nodes() {
    return List.copyOf(nodes);
  }

  @Override
  public final boolean isIsolated() {
    return true;
  }

  /** Returns true as Redlock's environments do, also over one node. */
  @Override
  public final boolean hasNodeOptions() {
    return true;
  }

  @Override
  public final Optional<TckClock> clock() {
    return Optional.of(clock);
  }

  @Override
  public TckTiming timing() {
    return new TckTiming(
        Duration.ofSeconds(30),
        Duration.ofMillis(600),
        Duration.ofMillis(500),
        Duration.ofSeconds(4),
        Duration.ofSeconds(16));
  }

  @Override
  public final void reset() {
    nodes.forEach(FakeNode::reset);
  }

  @Override
  public void close() {
    network.close();
  }

  /** Users, passwords and other names lead to the same. */
  private Way way(String uri) {
    String plain = uri.replaceFirst("//.*@", "//").replace("alias-of-", "");
    return Stream.<Way>concat(nodes.stream(), FakeLink.OPEN.values().stream())
        .filter(way -> way.uri().equals(plain))
        .findFirst()
        .orElseThrow(() -> new LockConfigurationException("there is no node " + plain));
  }
}
