package dev.holdfast.redlock.jedis;

import static dev.holdfast.testsupport.Eventually.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.drivertests.OneServer;
import dev.holdfast.redlock.spi.NodeSet;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A caller that waits for its result does the input and output of all rounds meanwhile. */
class LentThreadTest {
  @RegisterExtension static final OneServer SERVER = new OneServer();

  private static final int MANY_TRIES = 50;

  private final Driver driver = SERVER.open(uris -> Links.over(Links.Kind.OWN, uris));
  private final AtomicBoolean onAnotherThread = new AtomicBoolean();

  @BeforeEach
  void connect() throws Exception {
    driver.connect(0);
  }

  @Test
  void replyArrivesOnTheLentThread() {
    assertThat(anyOfManyTries(() -> ask(done(), noting(Thread.currentThread())))).isTrue();
  }

  @Test
  void roundSubmittedFromAReplyStaysOnTheLentThread() {
    Thread lent = Thread.currentThread();
    assertThat(
            anyOfManyTries(
                () -> ask(done(), noting(lent)).thenCompose(v -> ask(done(), noting(lent)))))
        .isTrue();
  }

  @Test
  void roundsOfAnOperationThatThrowsAreAnswered() {
    List<Asked> asked = new ArrayList<>();
    assertThatThrownBy(
            () ->
                driver
                    .nodes()
                    .lendThread(
                        () -> {
                          asked.add(Asked.of(driver.first(), "return 7"));
                          throw new IllegalStateException("thrown by the operation");
                        }))
        .hasMessage("thrown by the operation");
    assertThat(asked.get(0).reply()).isEqualTo(7L);
    assertThat(Asked.of(driver.first(), "return 8").reply()).isEqualTo(8L);
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
    assertThat(Asked.of(driver.first(), "return 8").reply()).isEqualTo(8L);
  }

  @Test
  void nestedOperationCompletesBeforeTheOuterOneContinues() {
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
  void roundsOfACompletedOperationAreAnswered() {
    List<Asked> asked = new ArrayList<>();
    driver
        .nodes()
        .lendThread(
            () -> {
              asked.add(Asked.of(driver.first(), "return 7"));
              return CompletableFuture.completedFuture(null);
            });
    assertThat(asked.get(0).reply()).isEqualTo(7L);
  }

  /** Tries again while the loop's own thread happens to be reading, which it does now and then. */
  private boolean anyOfManyTries(Supplier<CompletableFuture<Void>> operation) {
    for (int i = 0; i < MANY_TRIES; i++) {
      onAnotherThread.set(false);
      CompletableFuture<Void> done = driver.nodes().lendThread(operation);
      soon().until(done::isDone);
      if (!onAnotherThread.get()) {
        return true;
      }
    }
    return false;
  }

  private static CompletableFuture<Void> done() {
    return new CompletableFuture<>();
  }

  private Runnable noting(Thread lent) {
    return () -> onAnotherThread.compareAndSet(false, Thread.currentThread() != lent);
  }

  private CompletableFuture<Void> ask(CompletableFuture<Void> done, Runnable whenAnswered) {
    Asked.of(
        driver.first(),
        NodeSet.of(0),
        () -> {
          whenAnswered.run();
          done.complete(null);
        },
        "return 1");
    return done;
  }
}
