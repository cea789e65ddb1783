package dev.holdfast.tck.broken;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.core.Clock;
import dev.holdfast.core.LockManagerBuilder;
import dev.holdfast.core.LockPrimitive;
import dev.holdfast.core.Scheduler;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.TckClock;
import dev.holdfast.tck.TckEnvironment;
import dev.holdfast.tck.TckNode;
import dev.holdfast.tck.TckTiming;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Opens right managers over fake nodes. Each part that can be got wrong has a method. */
class FakeEnvironment implements TckEnvironment {
  private static final int MOST_NODES = 5;
  private static final Set<String> OPTIONS =
      Set.of("owner", "maxTtl", "retryDelay", "nodeTimeout", "connectTimeout", "connect");

  private final Scheduler network = Scheduler.create("fake-network");
  private final AtomicLong stepped = new AtomicLong();
  private final List<FakeNode> nodes;

  FakeEnvironment() {
    this(MOST_NODES);
  }

  FakeEnvironment(int count) {
    nodes =
        Stream.generate(this::keys).limit(count).map(keys -> new FakeNode(network, keys)).toList();
  }

  @Override
  public final LockManager open(Map<String, String> options) {
    return openOn(nodes.stream().map(FakeNode::uri).toList(), options);
  }

  @Override
  public final LockManager openOn(List<String> uris, Map<String, String> options) {
    return manager(() -> openRight(uris, options));
  }

  private LockManager openRight(List<String> uris, Map<String, String> options) {
    LockUrl url = LockUrl.parse("fake:", options);
    url.requireKnownOptions(OPTIONS);
    Members members =
        members(
            uris.stream().map(uri -> member(uri, way(uri), network)).toList(),
            network,
            url.duration("connectTimeout", Duration.ofSeconds(2)));
    Clock clock = time(Clock.system(), stepped);
    LockManagerBuilder builder =
        LockManagerBuilder.over(
                primitive(members, clock, url.duration("nodeTimeout", Duration.ofMillis(50))))
            .clock(clock)
            .retryDelay(url.duration("retryDelay", LockManagerBuilder.DEFAULT_RETRY_DELAY))
            .maxTtl(url.duration("maxTtl", LockManagerBuilder.DEFAULT_MAX_TTL));
    if (!url.text("owner", "").isEmpty()) {
      builder.owner(url.text("owner", ""));
    }
    settle(builder);
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

  /** As Redlock's do, also over one node. */
  @Override
  public final boolean hasNodeOptions() {
    return true;
  }

  @Override
  public final Optional<TckClock> clock() {
    return Optional.of(by -> stepped.addAndGet(by.toNanos() / 1_000));
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

  /** What a node keeps its locks in. */
  FakeKeys keys() {
    return new FakeKeys();
  }

  /** Time as managers see it, whose wall clock can be stepped by some microseconds. */
  Clock time(Clock system, AtomicLong micros) {
    return new Clock() {
      @Override
      public long nanos() {
        return system.nanos();
      }

      @Override
      public long wallMicros() {
        return system.wallMicros() + micros.get();
      }
    };
  }

  Member member(String uri, Way way, Scheduler scheduler) {
    return new Member(uri, way, scheduler);
  }

  Members members(List<Member> members, Scheduler scheduler, Duration connectTimeout) {
    return new Members(members, scheduler, connectTimeout);
  }

  LockPrimitive primitive(Members members, Clock clock, Duration nodeTimeout) {
    return new SmallRedlock(members, clock, nodeTimeout);
  }

  /** How the core is set. */
  void settle(LockManagerBuilder builder) {}

  /**
   * What the user gets.
   *
   * @param right opens a right manager
   */
  LockManager manager(Supplier<LockManager> right) {
    return right.get();
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
