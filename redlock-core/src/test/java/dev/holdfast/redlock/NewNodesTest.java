package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.guard.GuardTerms;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code newNodes=trust}, message by message. */
class NewNodesTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final long FENCE = 1_700_000_000_000_000L;
  private static final List<Object> VOTES = List.of(0L, 0L, 0L, "0");

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(3);
  private LockManager locks = open(options().trustNewNodes());

  @Test
  @Rule("GUARD-8")
  @DisplayName(
      "if all nodes look new they are initialised, each with the" + " quarantine that was seen")
  void newNodesAreInitialised() {
    CompletableFuture<Optional<Lease>> future = ask();
    List<Asked> looks = nodes.take();
    assertThat(marks(looks)).containsExactly("", "", "");
    looks.forEach(a -> reply(a, isNew(a.node())));

    List<Asked> marks = nodes.take();
    assertThat(marks(marks)).containsExactly("100", "101", "102");
    marks.forEach(a -> reply(a, VOTES));

    nodes.answerAll(a -> a.round().reply(a.node(), FENCE));
    assertThat(future.join()).isPresent();
  }

  static List<Object> others() {
    return List.of(VOTES, List.of(3_000L, 57_000L, 0L, "102"), "LOADING", "GUARDED 60000 5 x", 1L);
  }

  @ParameterizedTest
  @MethodSource("others")
  @Rule("GUARD-8")
  @DisplayName("if one node does not look new, none is initialised, and the" + " attempt goes on")
  void nodeThatIsNotNewPreventsInitialisation(Object other) {
    ask();
    List<Asked> looks = nodes.take();
    reply(looks.get(0), isNew(0));
    reply(looks.get(1), isNew(1));
    reply(looks.get(2), other);

    assertThat(nodes.take())
        .hasSize(3)
        .allSatisfy(a -> assertThat(Scripts.isAcquire(a.command())).isTrue());
  }

  @Test
  @Rule("GUARD-8")
  @DisplayName("if one node is down at first, none is initialised, now or later")
  void nodeThatIsDownPreventsInitialisation() {
    nodes.unreachable(2, new IllegalStateException("refused"));

    ask();
    assertThat(marks(nodes.take())).isEmpty();
    nodes.unreachable(2, null);
    time.advance(Duration.ofSeconds(2));
    ask();

    assertThat(marks(nodes.take())).isEmpty();
  }

  @Test
  @Rule("GUARD-8")
  @DisplayName("nodes that come back new later wait")
  void laterNewNodesWait() {
    ask();
    nodes.take().forEach(a -> reply(a, isNew(a.node())));
    nodes.take().forEach(a -> reply(a, VOTES));
    nodes.answerAll(a -> a.round().reply(a.node(), FENCE));

    for (int node = 0; node < 3; node++) {
      nodes.breakConnection(node);
    }
    time.advance(Duration.ofSeconds(2));
    ask();

    assertThat(marks(nodes.take())).isEmpty();
  }

  @Test
  @Rule("GUARD-8")
  @DisplayName("without the option no node is initialised")
  void withoutTheOptionNoNodeIsInitialised() {
    locks = open(options());

    ask();

    assertThat(marks(nodes.take())).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Rule("GUARD-8")
  @DisplayName("each opening warns, unless there is no guard")
  void eachOpeningWarns(boolean guard) {
    List<String> warnings = new ArrayList<>();
    Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord line) {
            warnings.add(line.getMessage());
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    Logger logger = Logger.getLogger(Redlock.class.getName());
    logger.addHandler(handler);
    try {
      for (int i = 0; i < 2; i++) {
        open(options().restartGuard(guard).trustNewNodes()).close();
      }
    } finally {
      logger.removeHandler(handler);
    }
    assertThat(warnings)
        .hasSize(guard ? 2 : 0)
        .allSatisfy(line -> assertThat(line).startsWith("newNodes=trust: "));
  }

  private CompletableFuture<Optional<Lease>> ask() {
    return locks.tryAcquireAsync(LockRequest.of("a", TTL));
  }

  /** The quarantines that reviews must end, or empty for one that looks only. */
  private static List<String> marks(List<Asked> asked) {
    return asked.stream()
        .map(a -> (Command.Eval) a.command())
        .filter(eval -> eval.keys().equals(List.of(GuardTerms.KEY)))
        .map(eval -> eval.arguments().get(0))
        .toList();
  }

  private static List<Object> isNew(int node) {
    return List.of(0L, 61_602L, 1L, Long.toString(100 + node));
  }

  private static void reply(Asked asked, Object reply) {
    if (reply instanceof String error) {
      asked.round().error(asked.node(), error);
    } else {
      asked.round().reply(asked.node(), reply);
    }
  }

  private RedlockOptions options() {
    return time.options().connectLazily();
  }

  private LockManager open(RedlockOptions options) {
    return Redlock.open(nodes, options);
  }
}
