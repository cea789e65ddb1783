package dev.holdfast.legacy.setnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockOutageException;
import dev.holdfast.core.Clock;
import dev.holdfast.core.KeyPrefix;
import dev.holdfast.core.Scheduler;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Logs;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Operations whose caller has gone, and those that are too many. */
class SetnxServerTest {
  private static final int THREADS = 8;

  @AutoClose private static final TestNodes NODES = TestNodes.start(1);
  private static final TestNode NODE = NODES.node(0);

  private final CountDownLatch held = new CountDownLatch(1);
  private final List<String> done = new CopyOnWriteArrayList<>();
  private final Scheduler scheduler = Scheduler.create("timer");
  private SetnxServer server;

  @BeforeEach
  void open() {
    server =
        new SetnxServer(
            Address.of(URI.create(NODE.uri())), settings(Duration.ofMillis(300)), scheduler);
  }

  @AfterEach
  void close() {
    held.countDown();
    server.close();
    scheduler.close();
  }

  @Test
  void queuedTaskWaitsForTheActualEndOfThePreviousTask() {
    SerialTasks line = new SerialTasks();
    CompletableFuture<Boolean> slow = server.run("slow", true, line, this::held);
    assertThatItIsGivenUp(slow);

    CompletableFuture<Boolean> next = server.run("next", true, line, begunLate("next"));
    CompletableFuture<Boolean> other =
        server.run("other", true, new SerialTasks(), begunLate("other"));
    assertThat(other).succeedsWithin(5, TimeUnit.SECONDS);
    assertThatItIsGivenUp(next);
    assertThat(done).containsExactly("other");
    held.countDown();

    await().untilAsserted(() -> assertThat(done).containsExactly("other", "held", "next"));
  }

  @Test
  void socketTimeoutIsReportedAsNoAnswer() {
    JedisConnectionException timedOut =
        new JedisConnectionException(new SocketTimeoutException("Read timed out"));

    assertThat(NodeException.of(timedOut, "no answer within 300 ms"))
        .hasMessage("no answer within 300 ms");
  }

  @Test
  void queuedTasksRunAfterTheManagerIsClosed() {
    SerialTasks line = new SerialTasks();
    assertThatItIsGivenUp(server.run("slow", true, line, this::held));
    assertThatItIsGivenUp(server.run("next", true, line, begunLate("next")));

    server.close();
    held.countDown();

    await().untilAsserted(() -> assertThat(done).containsExactly("held", "next"));
  }

  @Test
  void abandonedTaskIsNotStartedUnlessItMustRun() {
    occupyAllThreads();
    CompletableFuture<Boolean> attempt =
        server.run("attempt", false, new SerialTasks(), (connection, late) -> done.add("attempt"));
    CompletableFuture<Boolean> release =
        server.run("release", true, new SerialTasks(), begunLate("release"));
    assertThatItIsGivenUp(attempt);
    assertThatItIsGivenUp(release);
    held.countDown();

    await().untilAsserted(() -> assertThat(done).contains("release"));
    assertThat(done).doesNotContain("attempt");
  }

  @Test
  void tooManyQueuedOperationsAreAnOutage() {
    occupyAllThreads();
    List<CompletableFuture<Boolean>> waiting =
        Stream.generate(
                () -> server.run("waits", false, new SerialTasks(), (connection, late) -> true))
            .limit(10_000)
            .toList();

    assertThat(server.run("one more", false, new SerialTasks(), (connection, late) -> true))
        .failsWithin(Duration.ZERO)
        .withThrowableOfType(ExecutionException.class)
        .withMessageContaining("one more: " + NODE.address() + ": 10000 operations wait before");
    waiting.forEach(one -> one.cancel(false)); // so that none is begun
  }

  @Test
  void errorIsReportedAndLeavesNoConnection() {
    AssertionError error = new AssertionError("a test's");

    CompletableFuture<Boolean> failed =
        server.run(
            "fails",
            false,
            new SerialTasks(),
            (connection, late) -> {
              throw error;
            });

    assertThat(failed)
        .failsWithin(5, TimeUnit.SECONDS)
        .withThrowableOfType(ExecutionException.class)
        .withCause(error);
    await()
        .untilAsserted(
            () ->
                assertThat(String.valueOf(NODE.command("CLIENT", "LIST")))
                    .doesNotContain("name=holdfast"));
  }

  @Test
  void failedReleaseOfALateGrantIsLogged() {
    try (Logs logs = new Logs()) {
      assertThatItIsGivenUp(server.run("late", false, new SerialTasks(), new FailsToUndo()));
      held.countDown();

      await()
          .untilAsserted(
              () ->
                  assertThat(logs.warnings())
                      .containsExactly(
                          "a lock on "
                              + NODE.address()
                              + " was granted too late and could not be released:"
                              + " it blocks other clients until it expires"));
    }
  }

  private final class FailsToUndo implements SetnxServer.Operation<Boolean> {
    @Override
    public Boolean ask(ServerConnection connection, BooleanSupplier late) {
      return held(connection, late);
    }

    @Override
    public Optional<Consumer<ServerConnection>> undo(Boolean result) {
      return Optional.of(
          connection -> {
            throw NodeException.passing("an outage");
          });
    }
  }

  private SetnxServer.Operation<Boolean> begunLate(String what) {
    return new SetnxServer.Operation<>() {
      @Override
      public Boolean ask(ServerConnection connection, BooleanSupplier late) {
        return done.add(what);
      }

      @Override
      public boolean isBegunLate() {
        return true;
      }
    };
  }

  /** Does not end before the test says so. */
  private boolean held(ServerConnection connection, BooleanSupplier late) {
    try {
      return held.await(30, TimeUnit.SECONDS) && done.add("held");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void occupyAllThreads() {
    CountDownLatch begun = new CountDownLatch(THREADS);
    Stream.generate(SerialTasks::new)
        .limit(THREADS)
        .forEach(
            line ->
                server.run(
                    "slow",
                    false,
                    line,
                    (connection, late) -> {
                      begun.countDown();
                      return held(connection, late);
                    }));
    await().until(() -> begun.getCount() == 0);
  }

  private static void assertThatItIsGivenUp(CompletableFuture<Boolean> operation) {
    assertThat(operation)
        .failsWithin(5, TimeUnit.SECONDS)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(LockOutageException.class);
  }

  private static Settings settings(Duration quorumTimeout) {
    return new Settings(
        new StampFormat(StampFormat.Unit.SECONDS, false),
        false,
        new KeyPrefix("lock."),
        Duration.ZERO,
        SetnxLocks.DEFAULT_NODE_TIMEOUT,
        quorumTimeout,
        Duration.ofSeconds(10),
        Clock.system());
  }
}
