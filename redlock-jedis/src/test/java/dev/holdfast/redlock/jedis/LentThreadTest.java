package dev.holdfast.redlock.jedis;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.redlock.spi.NodeSet;
import dev.holdfast.testnodes.TestNodes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A caller that waits for its result does the input and output of all rounds meanwhile. */
class LentThreadTest {
  private static TestNodes servers;

  private final Driver driver;

  LentThreadTest() {
    driver = Links.over(Links.Kind.OWN, servers.uris());
  }

  @BeforeAll
  static void start() {
    servers = TestNodes.start(1);
  }

  @BeforeEach
  void connect() throws Exception {
    driver.connect(0);
  }

  @AfterEach
  void close() {
    driver.close();
  }

  @AfterAll
  static void stop() {
    servers.close();
  }

  @Test
  void theAnswerComesOnTheLentThread() {
    List<Thread> threads = new CopyOnWriteArrayList<>();
    CompletableFuture<Void> done = new CompletableFuture<>();
    driver.nodes().lendThread(() -> ask(done, () -> threads.add(Thread.currentThread())));

    soon().until(() -> !threads.isEmpty());
    assertThat(threads).containsExactly(Thread.currentThread());
    assertThat(done).isCompleted();
  }

  @Test
  void aRoundThatFollowsAnAnswerGoesOnOnTheSameThread() {
    List<Thread> threads = new CopyOnWriteArrayList<>();
    CompletableFuture<Void> first = new CompletableFuture<>();
    CompletableFuture<Void> second = new CompletableFuture<>();
    driver
        .nodes()
        .lendThread(
            () ->
                ask(first, () -> threads.add(Thread.currentThread()))
                    .thenCompose(done -> ask(second, () -> threads.add(Thread.currentThread()))));

    soon().until(() -> threads.size() == 2);
    assertThat(threads).containsOnly(Thread.currentThread());
  }

  @Test
  void whatAnOperationSubmittedIsAnsweredThoughItThrows() {
    List<Asked> asked = new ArrayList<>();
    assertThatThrownBy(
            () ->
                driver
                    .nodes()
                    .lendThread(
                        () -> {
                          asked.add(Asked.of(driver.nodes(), "return 7"));
                          throw new IllegalStateException("thrown by the operation");
                        }))
        .hasMessage("thrown by the operation");
    assertThat(asked.get(0).reply()).isEqualTo(7L);
    assertThat(Asked.of(driver.nodes(), "return 8").reply()).isEqualTo(8L);
  }

  @Test
  void aReceiverThatThrowsStopsNoOtherRound() {
    CompletableFuture<Void> never = new CompletableFuture<>();
    driver
        .nodes()
        .lendThread(
            () ->
                ask(
                    never,
                    () -> {
                      throw new IllegalStateException("thrown by the receiver of an answer");
                    }));
    assertThat(Asked.of(driver.nodes(), "return 8").reply()).isEqualTo(8L);
  }

  @Test
  void anOperationInsideAnotherIsAnsweredBeforeTheOuterOneGoesOn() {
    CompletableFuture<Void> outer = new CompletableFuture<>();
    CompletableFuture<Void> inner = new CompletableFuture<>();
    driver
        .nodes()
        .lendThread(
            () -> {
              driver.nodes().lendThread(() -> ask(inner, () -> {}));
              soon().until(inner::isDone);
              return ask(outer, () -> {});
            });
    soon().until(outer::isDone);
  }

  @Test
  void anOperationThatIsOverBeforeItsRoundsHasThemAnswered() {
    List<Asked> asked = new ArrayList<>();
    driver
        .nodes()
        .lendThread(
            () -> {
              asked.add(Asked.of(driver.nodes(), "return 7"));
              return CompletableFuture.completedFuture(null);
            });
    assertThat(asked.get(0).reply()).isEqualTo(7L);
  }

  private CompletableFuture<Void> ask(CompletableFuture<Void> done, Runnable whenAnswered) {
    Asked.of(
        driver.nodes(),
        NodeSet.of(0),
        () -> {
          whenAnswered.run();
          done.complete(null);
        },
        "return 1");
    return done;
  }
}
