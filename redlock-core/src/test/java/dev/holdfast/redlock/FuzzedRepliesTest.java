package dev.holdfast.redlock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.redlock.spi.Command;
import dev.holdfast.testsupport.Rule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Two of three nodes send replies that no script of ours sends. */
class FuzzedRepliesTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final long FENCE = 1_700_000_000_000_000L;
  private static final int SEEDS = 500;

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(3);

  /** New ones each time: {@code -Dholdfast.seed} repeats one. */
  static List<Long> seeds() {
    Long given = Long.getLong("holdfast.seed");
    if (given != null) {
      return List.of(given);
    }
    Random random = new Random();
    List<Long> seeds = new ArrayList<>();
    for (int i = 0; i < SEEDS; i++) {
      seeds.add(random.nextLong());
    }
    return seeds;
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  @Tag("exclusion")
  @Rule({"ERR-2", "ERR-6"})
  @DisplayName("malformed replies grant nothing, and the error names their nodes")
  void malformedRepliesGrantNothing(long seed) {
    Random random = new Random(seed);
    try (LockManager locks = open(random)) {
      CompletableFuture<Optional<Lease>> future = ask(locks);
      List<Asked> asked = nodes.take();
      asked.get(0).round().reply(0, grant(asked.get(0)));
      say(asked.get(1), random);
      say(asked.get(2), random);
      nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));

      assertNamesTheNodes(future);
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  @Tag("exclusion")
  @Rule({"ERR-2", "ERR-6"})
  @DisplayName("malformed replies neither extend nor end a lease")
  void malformedRepliesNeitherExtendNorLose(long seed) {
    Random random = new Random(seed);
    try (LockManager locks = open(random)) {
      CompletableFuture<Optional<Lease>> future = ask(locks);
      nodes.answerAll(a -> a.round().reply(a.node(), grant(a)));
      Lease lease = future.join().orElseThrow();

      CompletableFuture<?> extended = lease.extendAsync(TTL);
      List<Asked> asked = nodes.take();
      asked.get(0).round().reply(0, Scripts.MINE);
      say(asked.get(1), random);
      say(asked.get(2), random);
      nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MINE));

      assertNamesTheNodes(extended);
      assertThat(lease.isHeld()).isTrue();
    }
  }

  private static void assertNamesTheNodes(CompletableFuture<?> future) {
    CompletionException thrown = catchThrowableOfType(CompletionException.class, future::join);
    assertThat(thrown).hasCauseInstanceOf(LockException.class);
    assertThat(thrown.getCause())
        .isInstanceOfAny(LockOutageException.class, LockConfigurationException.class)
        .hasMessageContainingAll("h2:6379", "h3:6379")
        .hasMessageNotContaining("h1:6379");
  }

  private static void say(Asked asked, Random random) {
    if (random.nextInt(3) == 0) {
      asked.round().error(asked.node(), error(random));
    } else {
      asked.round().reply(asked.node(), reply(random, 0));
    }
  }

  private static Object grant(Asked asked) {
    if (!(asked.command() instanceof Command.Eval eval)) {
      return "OK";
    }
    return Scripts.TAKE.is(eval.script()) ? Scripts.MINE : FENCE;
  }

  private static @Nullable Object reply(Random random, int depth) {
    return switch (random.nextInt(depth > 2 ? 6 : 8)) {
      case 0 -> -1 - (random.nextLong() & Long.MAX_VALUE);
      case 1 -> (1L << 53) + (random.nextLong() & Long.MAX_VALUE) / 2;
      case 2 -> text(random);
      case 3 -> Boolean.valueOf(random.nextBoolean());
      case 4 -> random.nextDouble() * Long.MAX_VALUE;
      case 5 -> depth == 0 ? "" : null; // a plain SET replies nil if the key is there
      case 6 -> Collections.nCopies(random.nextInt(4), reply(random, depth + 1));
      default -> text(random).getBytes(UTF_8);
    };
  }

  /** Never of those that are votes: a wrong type, or a script that is not known yet. */
  private static String error(Random random) {
    String code =
        List.of(
                "ERR ",
                "OOM ",
                "LOADING ",
                "NOPERM ",
                "READONLY ",
                "QUARANTINE ",
                "QUARANTINE 1 ",
                "BUSY ",
                "MOVED ",
                "-",
                "")
            .get(random.nextInt(11));
    return code + text(random);
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder("?");
    for (int i = random.nextInt(200); i > 0; i--) {
      text.appendCodePoint(random.nextInt(0xD800));
    }
    return text.toString();
  }

  private static CompletableFuture<Optional<Lease>> ask(LockManager locks) {
    return locks.tryAcquireAsync(LockRequest.of("a", TTL));
  }

  /** Opens a manager with or without fencing tokens and the guard. */
  private LockManager open(Random random) {
    return Redlock.open(
        nodes, time.options().fencing(random.nextBoolean()).restartGuard(random.nextBoolean()));
  }
}
