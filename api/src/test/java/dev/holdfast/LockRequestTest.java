package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class LockRequestTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("nightly", TTL);

  @Test
  void newRequestHasOnlyNameAndTtl() {
    assertThat(REQUEST.name()).isEqualTo("nightly");
    assertThat(REQUEST.ttl()).isEqualTo(TTL);
    assertThat(REQUEST.waitAtMost()).isEmpty();
    assertThat(REQUEST.keepAliveUpTo()).isEmpty();
    assertThat(REQUEST.holdAtLeast()).isZero();
    assertThat(REQUEST.ownerLabel()).isEmpty();
  }

  @Test
  void eachWitherSetsItsOwnProperty() {
    LockRequest request =
        REQUEST
            .waitAtMost(Duration.ofSeconds(5))
            .keepAliveUpTo(Duration.ofHours(2))
            .holdAtLeast(Duration.ofSeconds(10))
            .ownerLabel("batch-7");

    assertThat(request.name()).isEqualTo("nightly");
    assertThat(request.ttl()).isEqualTo(TTL);
    assertThat(request.waitAtMost()).contains(Duration.ofSeconds(5));
    assertThat(request.keepAliveUpTo()).contains(Duration.ofHours(2));
    assertThat(request.holdAtLeast()).isEqualTo(Duration.ofSeconds(10));
    assertThat(request.ownerLabel()).contains("batch-7");
  }

  @Test
  void waitingForeverIsTheLongestDuration() {
    assertThat(REQUEST.waitForever().waitAtMost()).contains(ChronoUnit.FOREVER.getDuration());
  }

  static List<UnaryOperator<LockRequest>> withers() {
    return List.of(
        r -> r.waitAtMost(Duration.ZERO),
        LockRequest::waitForever,
        r -> r.keepAliveUpTo(TTL),
        r -> r.holdAtLeast(TTL),
        r -> r.ownerLabel("o"));
  }

  @ParameterizedTest
  @MethodSource("withers")
  void aWitherLeavesItsReceiverAlone(UnaryOperator<LockRequest> wither) {
    LockRequest receiver = LockRequest.of("nightly", TTL);

    LockRequest changed = wither.apply(receiver);

    assertThat(receiver).isEqualTo(REQUEST);
    assertThat(changed).isNotEqualTo(REQUEST).isNotSameAs(receiver);
  }

  @ParameterizedTest
  @MethodSource("withers")
  void requestsWithEqualPropertiesAreEqual(UnaryOperator<LockRequest> wither) {
    LockRequest one = wither.apply(LockRequest.of("nightly", TTL));
    LockRequest other = wither.apply(LockRequest.of("nightly", Duration.parse("PT30S")));

    assertThat(one).isEqualTo(other).hasSameHashCodeAs(other).hasToString(other.toString());
    assertThat(one)
        .isNotEqualTo(wither.apply(LockRequest.of("daily", TTL)))
        .isNotEqualTo("nightly")
        .isNotEqualTo(null);
  }

  @Test
  void aRequestShowsWhatItSays() {
    assertThat(REQUEST).hasToString("LockRequest[name=nightly, ttl=PT30S]");
    assertThat(
            REQUEST
                .waitAtMost(Duration.ZERO)
                .keepAliveUpTo(Duration.ofHours(2))
                .holdAtLeast(Duration.ofSeconds(1))
                .ownerLabel("batch-7"))
        .hasToString(
            "LockRequest[name=nightly, ttl=PT30S, waitAtMost=PT0S, keepAliveUpTo=PT2H,"
                + " holdAtLeast=PT1S, ownerLabel=batch-7]");
  }

  static Stream<Arguments> badInput() {
    Duration negative = Duration.ofNanos(-1);
    return Stream.of(
        bad(() -> LockRequest.of("", TTL), "the name of a lock is empty"),
        bad(
            () -> LockRequest.of("x".repeat(1025), TTL),
            "name of a lock 'xxxxxxxxxxxxxxxxxxxx…' is of 1025 bytes in UTF-8: give at most 1024"),
        bad(() -> LockRequest.of("ä".repeat(513), TTL), "is of 1026 bytes in UTF-8"),
        bad(
            () -> LockRequest.of("\uD83D\uDD12".repeat(257), TTL),
            "'" + "\uD83D\uDD12".repeat(20) + "…' is of 1028 bytes"),
        bad(() -> LockRequest.of("a\uD83D", TTL), "name of a lock holds half of a surrogate pair"),
        bad(() -> LockRequest.of("\uDD12a", TTL), "name of a lock holds half of a surrogate pair"),
        bad(() -> LockRequest.of("a", Duration.ZERO), "ttl is PT0S: give more than zero"),
        bad(() -> LockRequest.of("a", negative), "ttl is PT-0.000000001S: give more than zero"),
        bad(() -> REQUEST.waitAtMost(negative), "waitAtMost is PT-0.000000001S: give zero or more"),
        bad(() -> REQUEST.keepAliveUpTo(Duration.ZERO), "keepAliveUpTo is PT0S"),
        bad(() -> REQUEST.keepAliveUpTo(negative), "keepAliveUpTo is PT-0.000000001S"),
        bad(
            () -> REQUEST.keepAliveUpTo(TTL.minusNanos(1)),
            "keepAliveUpTo PT29.999999999S is below the ttl PT30S: give at least the ttl"),
        bad(() -> REQUEST.holdAtLeast(negative), "holdAtLeast is PT-0.000000001S"),
        bad(
            () -> REQUEST.holdAtLeast(Duration.ofHours(24).plusNanos(1)),
            "holdAtLeast is PT24H0.000000001S: give at most 24 hours, and use a scheduler for"
                + " rarer jobs"),
        bad(() -> REQUEST.holdAtLeast(Duration.ofDays(365)), "holdAtLeast is PT8760H"),
        bad(() -> REQUEST.ownerLabel(""), "the owner label is empty"),
        bad(
            () -> REQUEST.ownerLabel("x".repeat(257)),
            "is of 257 bytes in UTF-8: give at most 256"),
        bad(() -> REQUEST.ownerLabel("\uDD12"), "owner label holds half of a surrogate pair"));
  }

  private static Arguments bad(Supplier<LockRequest> request, String message) {
    return Arguments.of(request, message);
  }

  @ParameterizedTest(name = "[{index}] {1}")
  @MethodSource("badInput")
  void invalidInputIsRefusedWithTheValidRange(Supplier<LockRequest> request, String message) {
    assertThatThrownBy(request::get)
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(message);
  }

  @Test
  void limitsAreInclusive() {
    assertThat(LockRequest.of("ä".repeat(512), Duration.ofNanos(1)).name()).hasSize(512);
    assertThat(REQUEST.keepAliveUpTo(TTL).holdAtLeast(TTL).holdAtLeast()).isEqualTo(TTL);
    assertThat(REQUEST.ownerLabel("x".repeat(256)).ownerLabel()).isPresent();
    assertThat(LockRequest.of(" Nightly\n", TTL).name()).isEqualTo(" Nightly\n");
  }
}
