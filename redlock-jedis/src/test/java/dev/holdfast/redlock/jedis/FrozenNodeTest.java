package dev.holdfast.redlock.jedis;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.redlock.spi.Round;
import dev.holdfast.redlock.spi.Script;
import dev.holdfast.testnodes.TestNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A hanging node and the driver alone: no layer above it disconnects the node. */
@ParameterizedClass
@EnumSource(Links.Kind.class)
class FrozenNodeTest {
  /** Less than a pool's connection waits for a reply. The I/O loop would wait without end. */
  private static final Duration STALL = Duration.ofMillis(900);

  private static final Command SMALL = eval("return 1");

  /** Too many of these for all buffers of a connection. */
  private static final Command LARGE = eval("return 1 --" + "x".repeat(30_000));

  private final TestNodes servers = TestNodes.start(3);
  private final Driver driver;
  private final AtomicInteger ends;

  FrozenNodeTest(Links.Kind kind) throws Exception {
    driver = Links.over(kind, servers.uris());
    ends = driver.connect(0);
    driver.connect(1);
    driver.connect(2);
  }

  @BeforeEach
  void freeze() {
    servers.node(0).freeze();
  }

  @AfterEach
  void close() {
    driver.close();
    servers.close();
  }

  @Test
  void frozenNodeDoesNotStallRoundsThatOthersDecide() {
    List<Voted> rounds = ask(500, SMALL);
    assertThat(rounds).allMatch(round -> round.took.compareTo(STALL) < 0);
  }

  @Test
  void disconnectingTheNodeFailsItsUnansweredCommands() throws Exception {
    List<Voted> rounds = ask(10, SMALL);
    driver.first().disconnect(0);
    soon().until(() -> ends.get() == 1);
    assertThat(rounds).allMatch(round -> round.failures.get() == 1);

    servers.node(0).thaw();
    driver.connect(0);
    assertThat(Asked.of(driver.first(), "return 7").reply()).isEqualTo(7L);
  }

  @Test
  void fullSocketBuffersDoNotStallOtherNodes() {
    List<Voted> rounds = ask(200, LARGE);
    assertThat(rounds).allMatch(round -> round.took.compareTo(STALL) < 0);
    driver.first().disconnect(0);
    soon().until(() -> ends.get() == 1);
    soon().until(() -> rounds.stream().allMatch(round -> round.failures.get() == 1));
  }

  @Test
  void commandsBeyondTheSocketBuffersAreSentAfterTheThaw() {
    List<Voted> rounds = ask(20, LARGE);
    servers.node(0).thaw();
    soon().until(() -> rounds.stream().allMatch(round -> round.replies.get() == 3));
    assertThat(ends).hasValue(0);
  }

  /** A write has no timeout: it must not begin if it may not end. */
  @Test
  void disconnectingAFrozenNodeFailsABurstOfCommands() {
    servers.node(0).thaw();
    List<Voted> burst = new ArrayList<>();
    Runnable freezeAndAsk =
        () -> {
          freeze();
          for (int i = 0; i < 200; i++) {
            burst.add(new Voted());
            driver.first().submit(new Round(LARGE, NodeSet.of(0), burst.get(i)));
          }
        };
    assertThat(Asked.of(driver.first(), NodeSet.of(0), freezeAndAsk, "return 1").reply())
        .isEqualTo(1L);
    driver.first().disconnect(0);
    soon().until(() -> ends.get() == 1);
    assertThat(burst).hasSize(200).allMatch(round -> round.failures.get() == 1);
  }

  /** One after the other, each when two nodes have answered the one before. */
  private List<Voted> ask(int howMany, Command command) {
    List<Voted> rounds = new ArrayList<>();
    for (int i = 0; i < howMany; i++) {
      Voted round = new Voted();
      rounds.add(round);
      driver
          .nodes()
          .lendThread(
              () -> {
                driver.first().submit(new Round(command, NodeSet.all(3), round));
                return round.twoReplies;
              });
      soon().pollInterval(Duration.ofNanos(100_000)).until(round::isDecided);
    }
    return rounds;
  }

  private static Command eval(String script) {
    return new Command.Eval(new Script(script, "not used"), true, List.of("the-key"), List.of());
  }

  /** Decided by two votes. */
  private static final class Voted implements Round.Answers {
    final AtomicInteger replies = new AtomicInteger();
    final AtomicInteger failures = new AtomicInteger();
    final CompletableFuture<Void> twoReplies = new CompletableFuture<>();
    private final long start = System.nanoTime();
    volatile Duration took = Duration.ofDays(1);

    @Override
    public void reply(int node, @Nullable Object reply) {
      if (replies.incrementAndGet() == 2) {
        took = Duration.ofNanos(System.nanoTime() - start);
        twoReplies.complete(null);
      }
    }

    @Override
    public void error(int node, String error) {
      throw new AssertionError(error);
    }

    @Override
    public void failure(int node, Throwable cause) {
      failures.incrementAndGet();
    }

    @Override
    public boolean isDecided() {
      return replies.get() >= 2;
    }
  }
}
