package dev.holdfast;

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
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LockExceptionTest {
  @Test
  void thereAreFourKindsAndNoMore() {
    assertThat(LockException.class.getPermittedSubclasses())
        .containsExactlyInAnyOrder(
            LockUnavailableException.class,
            LockBackendException.class,
            LockLostException.class,
            LockConfigurationException.class);
  }

  @Test
  void contentionTellsTheVotesAndTheWait() {
    LockUnavailableException contended =
        new LockUnavailableException("stock", 1, 3, 1, Duration.ofMillis(1500));

    assertThat(contended)
        .hasMessage(
            "the lock 'stock' is held by another owner: waited 1500 ms; votes of the last attempt:"
                + " 1 granted, 3 refused, 1 unanswered")
        .hasNoCause();
    assertThat(contended.granted()).isEqualTo(1);
    assertThat(contended.refused()).isEqualTo(3);
    assertThat(contended.unanswered()).isEqualTo(1);
    assertThat(contended.waited()).isEqualTo(Duration.ofMillis(1500));
  }

  @Test
  void contentionNamesTheHolderWhereItIsKnown() {
    LockUnavailableException contended =
        new LockUnavailableException("stock", 0, 3, 0, Duration.ofMillis(5), "web-1:42", false);

    assertThat(contended)
        .hasMessage(
            "the lock 'stock' is held by another owner, 'web-1:42': waited 5 ms; votes of the last"
                + " attempt: 0 granted, 3 refused");
    assertThat(contended.holder()).contains("web-1:42");
    assertThat(contended.isHeldByThisManager()).isFalse();
  }

  @Test
  void contentionWithinOneManagerSaysThatLocksAreNotReentrant() {
    LockUnavailableException contended =
        new LockUnavailableException("stock", 0, 0, 0, Duration.ofMillis(5), null, true);

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

    LockBackendException outage = new LockBackendException("1 of 3 nodes answered", failures, true);

    assertThat(outage)
        .hasMessage("1 of 3 nodes answered: h2:6379: refused; h1:6379: TimeoutException")
        .hasCause(refused)
        .hasSuppressedException(late);
    assertThat(outage.failures())
        .containsExactly(Map.entry("h2:6379", refused), Map.entry("h1:6379", late));
    assertThat(outage.failures()).isUnmodifiable();
    assertThat(outage.outcomeUnknown()).isTrue();
  }

  @Test
  void anOutageKeepsWhatItWasMadeOf() {
    Map<String, Exception> failures = new LinkedHashMap<>();
    LockBackendException outage = new LockBackendException("quarantined", failures, false);
    failures.put("h1:6379", new IOException());

    assertThat(outage).hasMessage("quarantined").hasNoCause();
    assertThat(outage.failures()).isEmpty();
    assertThat(outage.outcomeUnknown()).isFalse();
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
  void aWrongConfigurationSaysWhatItWasGiven() {
    IOException seen = new IOException();

    assertThat(new LockConfigurationException("give more")).hasMessage("give more").hasNoCause();
    assertThat(new LockConfigurationException("give more", seen)).hasCause(seen);
  }

  @Test
  void whatAnExceptionCarriesSurvivesSerialization() throws Exception {
    LockBackendException outage =
        copied(new LockBackendException("x", Map.of("h1:6379", new IOException("y")), true));
    LockUnavailableException contended =
        copied(new LockUnavailableException("stock", 1, 3, 1, Duration.ofMillis(1500)));

    assertThat(outage.failures()).containsOnlyKeys("h1:6379");
    assertThat(outage.outcomeUnknown()).isTrue();
    assertThat(contended.waited()).isEqualTo(Duration.ofMillis(1500));
    assertThat(copied(new LockLostException("stock", LossReason.TAKEN)).reason())
        .isEqualTo(LossReason.TAKEN);
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
