package dev.holdfast;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.ConnectException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LockExceptionTest {
  @Test
  void thereAreExactlyFourExceptionTypes() {
    assertThat(LockException.class.getPermittedSubclasses())
        .containsExactlyInAnyOrder(
            LockContendedException.class,
            LockOutageException.class,
            LockLostException.class,
            LockConfigurationException.class);
  }

  @Test
  void contentionReportsTheVotesAndTheWait() {
    LockContendedException contended =
        new LockContendedException("stock", new LockVotes(1, 3, 1), Duration.ofMillis(1500));

    assertThat(contended)
        .hasMessage(
            "the lock 'stock' is held by another owner: waited 1500 ms; votes of the last attempt:"
                + " 1 granted, 3 refused, 1 unanswered")
        .hasNoCause();
    assertThat(contended.votes().granted()).isEqualTo(1);
    assertThat(contended.votes().refused()).isEqualTo(3);
    assertThat(contended.votes().unanswered()).isEqualTo(1);
    assertThat(contended.waited()).isEqualTo(Duration.ofMillis(1500));
  }

  @Test
  void contentionNamesTheHolderWhereItIsKnown() {
    LockContendedException contended =
        new LockContendedException(
            "stock", new LockVotes(0, 3, 0), Duration.ofMillis(5), "web-1:42", false);

    assertThat(contended)
        .hasMessage(
            "the lock 'stock' is held by another owner, 'web-1:42': waited 5 ms; votes of the last"
                + " attempt: 0 granted, 3 refused");
    assertThat(contended.holder()).contains("web-1:42");
    assertThat(contended.isHeldByThisManager()).isFalse();
  }

  @Test
  void contentionWithinOneManagerSaysThatLocksAreNotReentrant() {
    LockContendedException contended =
        new LockContendedException(
            "stock", new LockVotes(0, 0, 0), Duration.ofMillis(5), null, true);

    assertThat(contended)
        .hasMessage(
            "the lock 'stock' is held by this very manager: waited 5 ms; its turn to try never"
                + " came; a lock is not reentrant: release it first, or use Locks.asLock, which is");
    assertThat(contended.holder()).isEmpty();
    assertThat(contended.isHeldByThisManager()).isTrue();
  }

  @Test
  void anOutageNamesEveryNodeAndItsCause() {
    ConnectException refused = new ConnectException("refused");
    TimeoutException late = new TimeoutException();
    Map<String, Exception> failures = new LinkedHashMap<>();
    failures.put("h2:6379", refused);
    failures.put("h1:6379", late);

    LockOutageException outage = new LockOutageException("1 of 3 nodes answered", failures, true);

    assertThat(outage)
        .hasMessage("1 of 3 nodes answered: h2:6379: refused; h1:6379: TimeoutException")
        .hasCause(refused)
        .hasSuppressedException(late);
    assertThat(outage.failures())
        .containsExactly(Map.entry("h2:6379", refused), Map.entry("h1:6379", late));
    assertThat(outage.failures()).isUnmodifiable();
    assertThat(outage.isOutcomeUnknown()).isTrue();
  }

  @Test
  void outageCopiesItsNodesAndCauses() {
    Map<String, Exception> failures = new LinkedHashMap<>();
    LockOutageException outage = new LockOutageException("quarantined", failures, false);
    failures.put("h1:6379", new IOException());

    assertThat(outage).hasMessage("quarantined").hasNoCause();
    assertThat(outage.failures()).isEmpty();
    assertThat(outage.isOutcomeUnknown()).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void aLossNamesTheLockAndItsReason(LossReason reason) {
    LockLostException lost = new LockLostException("stock", reason);

    assertThat(lost)
        .hasMessageStartingWith("the lease on 'stock' was lost: ")
        .hasMessageContaining("(" + reason + ")")
        .hasNoCause();
    assertThat(lost.reason()).isEqualTo(reason);
  }

  @Test
  void aLossCarriesWhatTheInterruptedWorkThrew() {
    IOException thrown = new IOException();

    assertThat(new LockLostException("stock", LossReason.TAKEN, thrown)).hasCause(thrown);
  }

  @Test
  void configurationErrorShowsTheWrongValue() {
    IOException seen = new IOException();

    assertThat(new LockConfigurationException("give more")).hasMessage("give more").hasNoCause();
    assertThat(new LockConfigurationException("give more", seen)).hasCause(seen);
  }

  @Test
  void exceptionDetailsSurviveSerialization() throws Exception {
    LockOutageException outage =
        copied(new LockOutageException("x", Map.of("h1:6379", new IOException("y")), true));
    LockContendedException contended =
        copied(
            new LockContendedException("stock", new LockVotes(1, 3, 1), Duration.ofMillis(1500)));

    assertThat(outage.failures()).containsOnlyKeys("h1:6379");
    assertThat(outage.isOutcomeUnknown()).isTrue();
    assertThat(contended.waited()).isEqualTo(Duration.ofMillis(1500));
    assertThat(copied(new LockLostException("stock", LossReason.TAKEN)).reason())
        .isEqualTo(LossReason.TAKEN);
  }

  /** An exception that refers to its connection, as drivers' exceptions do. */
  private static final class OfADriver extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial")
    private final Object connection = new Object();

    OfADriver(String message, @Nullable Throwable cause) {
      super(message, cause);
    }

    @Override
    public String getLocalizedMessage() {
      return getMessage() + " at " + connection.getClass().getSimpleName();
    }
  }

  @Test
  void exceptionWithANonSerializableCauseIsSerializable() throws Exception {
    OfADriver first = new OfADriver("reset", new IOException("by peer"));
    Map<String, Throwable> failures = new LinkedHashMap<>();
    failures.put("h1:6379", first);
    failures.put("h2:6379", new IOException("refused"));
    LockOutageException outage = new LockOutageException("no quorum", failures, true);
    outage.addSuppressed(new OfADriver("late", first));

    LockOutageException copy = copied(outage);

    assertThat(copy).hasMessage(outage.getMessage());
    assertThat(copy.getStackTrace()).isEqualTo(outage.getStackTrace());
    assertThat(copy.isOutcomeUnknown()).isTrue();
    assertThat(copy.failures()).containsOnlyKeys("h1:6379", "h2:6379").isUnmodifiable();
    assertThat(copy.getCause())
        .isSameAs(copy.failures().get("h1:6379"))
        .hasToString(first.toString())
        .hasMessage("reset")
        .cause()
        .hasToString("java.io.IOException: by peer");
    assertThat(requireNonNull(copy.getCause()).getStackTrace()).isEqualTo(first.getStackTrace());
    assertThat(copy.failures().get("h2:6379"))
        .isInstanceOf(IOException.class)
        .hasMessage("refused");
    assertThat(copy.getSuppressed()).hasSize(2);
    assertThat(copy.getSuppressed()[1]).hasMessage("late");
    assertThat(copied(new LockConfigurationException("give more", first)).getCause())
        .hasToString(first.toString());
    assertThat(copied(new LockLostException("stock", LossReason.TAKEN, first)))
        .satisfies(lost -> assertThat(lost.reason()).isEqualTo(LossReason.TAKEN))
        .hasMessage(new LockLostException("stock", LossReason.TAKEN).getMessage())
        .cause()
        .hasToString(first.toString());
  }

  @Test
  void exceptionWithCircularCausesIsSerializable() throws Exception {
    OfADriver first = new OfADriver("first", null);
    OfADriver second = new OfADriver("second", first);
    LockOutageException outage =
        new LockOutageException("no quorum", Map.of("h1:6379", second), false);
    outage.addSuppressed(second);
    first.addSuppressed(outage);

    assertThat(copied(outage).getCause()).hasToString(second.toString());
  }

  @Test
  void copyHasTheStackTraceOfItsCaller() throws Exception {
    IOException cause = new IOException("refused");
    IOException suppressed = new IOException("late");
    LockOutageException outage =
        new LockOutageException("no quorum", Map.of("h1:6379", cause), true);
    outage.addSuppressed(suppressed);
    for (LockException seen :
        new LockException[] {
          outage,
          new LockConfigurationException("give more", cause),
          new LockLostException("stock", LossReason.TAKEN, cause),
          new LockContendedException("stock", new LockVotes(1, 3, 1), Duration.ofMillis(1500))
        }) {
      LockException copy = CompletableFuture.supplyAsync(seen::fromHere).get();

      assertThat(copy).isNotSameAs(seen).hasSameClassAs(seen).hasMessage(seen.getMessage());
      assertThat(copy.getCause()).isSameAs(seen.getCause());
      assertThat(copy.getSuppressed()).isEqualTo(seen.getSuppressed());
      assertThat(copy.getStackTrace())
          .extracting(StackTraceElement::getClassName)
          .doesNotContain(LockExceptionTest.class.getName())
          .anyMatch(name -> name.startsWith(CompletableFuture.class.getName()));
    }
    assertThat(((LockOutageException) outage.fromHere()).failures()).isEqualTo(outage.failures());
    assertThat(((LockOutageException) outage.fromHere()).isOutcomeUnknown()).isTrue();
  }

  @SuppressWarnings("unchecked")
  private static <T> T copied(T exception) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(exception);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return (T) in.readObject();
    }
  }
}
