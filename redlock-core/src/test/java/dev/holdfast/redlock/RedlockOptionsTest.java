package dev.holdfast.redlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.redlock.ScriptedNodes.Asked;
import dev.holdfast.redlock.internal.vote.Scripts;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.testsupport.Rule;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The options that a URL and a program may give, and their effects. */
class RedlockOptionsTest {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration LEAST = Duration.ofNanos(1);

  private final ManualTime time = new ManualTime();
  private final ScriptedNodes nodes = new ScriptedNodes(3);

  @Test
  @DisplayName("options that a URL does not set have the documented defaults")
  void missingOptionsHaveTheDocumentedDefaults() {
    RedlockOptions options = from(Map.of());

    assertThat(options.nodeTimeout()).isEqualTo(Duration.ofMillis(50));
    assertThat(options.quorumTimeout()).isEqualTo(Duration.ofSeconds(1));
    assertThat(options.connectTimeout()).isEqualTo(Duration.ofSeconds(2));
    assertThat(options.forAlgorithm().maxTtl()).isEqualTo(Duration.ofSeconds(60));
    assertThat(options.forAlgorithm().validity().drift()).isEqualTo(0.01);
    assertThat(options.forAlgorithm().keyPrefix().text()).isEmpty();
    assertThat(options.forAlgorithm().cluster()).isEmpty();
    assertThat(options.forAlgorithm().isFencing()).isTrue();
    assertThat(options.forAlgorithm().isLazy()).isFalse();
    assertThat(options.forAlgorithm().restartGuard()).as("the number of nodes decides").isEmpty();
  }

  @Test
  @DisplayName("each option of a URL is read")
  void eachOptionOfAUrlIsRead() {
    RedlockOptions options =
        from(
            Map.of(
                "nodeTimeout", "70ms",
                "quorumTimeout", "4s",
                "connectTimeout", "3s",
                "maxTtl", "90s",
                "drift", "2%",
                "keyPrefix", "app:",
                "cluster", "bills",
                "fencing", "false",
                "connect", "lazy",
                "restartGuard", "off"));

    assertThat(options.nodeTimeout()).isEqualTo(Duration.ofMillis(70));
    assertThat(options.connectTimeout()).isEqualTo(Duration.ofSeconds(3));
    assertThat(options.forAlgorithm().maxTtl()).isEqualTo(Duration.ofSeconds(90));
    assertThat(options.forAlgorithm().validity().drift()).isEqualTo(0.02);
    assertThat(options.quorumTimeout()).isEqualTo(Duration.ofSeconds(4));
    assertThat(options.forAlgorithm().keyPrefix().text()).isEqualTo("app:");
    assertThat(options.forAlgorithm().cluster()).isEqualTo("bills");
    assertThat(options.forAlgorithm().isFencing()).isFalse();
    assertThat(options.forAlgorithm().isLazy()).isTrue();
    assertThat(options.forAlgorithm().restartGuard()).contains(false);
  }

  @Test
  @DisplayName("quorumTimeout is at least nodeTimeout")
  void quorumTimeoutIsAtLeastNodeTimeout() {
    assertThat(from(Map.of("nodeTimeout", "3s")).quorumTimeout()).isEqualTo(Duration.ofSeconds(3));
    assertThat(from(Map.of("quorumTimeout", "20ms")).quorumTimeout())
        .isEqualTo(Duration.ofMillis(50));
  }

  @Test
  @DisplayName("a node is disconnected after a second of silence, or after a longer quorumTimeout")
  void nodeIsDisconnectedAfterAtLeastASecondOfSilence() {
    assertThat(from(Map.of("quorumTimeout", "20ms")).silenceLimit())
        .isEqualTo(Duration.ofSeconds(1));
    assertThat(from(Map.of("quorumTimeout", "4s")).silenceLimit()).isEqualTo(Duration.ofSeconds(4));
  }

  @Test
  @DisplayName("the owner label and the retry delay are those of the manager")
  void managerHasTheOwnerLabelAndRetryDelayOfItsOptions() {
    RedlockOptions options = from(Map.of("owner", "nightly", "retryDelay", "7s"));
    LockManager locks =
        Redlock.open(
            nodes,
            options.fencing(false).restartGuard(false).clock(time).scheduler(time).random(() -> 0));
    locks.tryAcquireAsync(LockRequest.of("a", Duration.ofSeconds(10)).waitForever());

    List<Asked> first = nodes.take();
    assertThat(first.get(0).command().words().get(2)).matches("nightly:0{40}");
    first.forEach(a -> a.round().reply(a.node(), null));
    nodes.answerAll(a -> a.round().reply(a.node(), Scripts.MISSING));
    time.advance(Duration.ofMillis(3499));
    assertThat(nodes.take()).isEmpty();
    time.advance(Duration.ofMillis(1));
    assertThat(nodes.take()).extracting(Asked::name).containsOnly("SET");
  }

  @Test
  @Rule("ERR-4")
  @DisplayName("connect is eager or lazy")
  void connectIsEagerOrLazy() {
    assertThat(from(Map.of("connect", "eager")).forAlgorithm().isLazy()).isFalse();
    assertThatThrownBy(() -> from(Map.of("connect", "soon")))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("soon", "connect=eager", "connect=lazy");
  }

  @Test
  @Rule("ERR-4")
  @DisplayName("newNodes is wait or trust, and wait unless something is said")
  void newNodesIsWaitOrTrust() {
    assertThat(from(Map.of()).forAlgorithm().isTrustingNewNodes()).isFalse();
    assertThat(from(Map.of("newNodes", "wait")).forAlgorithm().isTrustingNewNodes()).isFalse();
    assertThat(from(Map.of("newNodes", "trust")).forAlgorithm().isTrustingNewNodes()).isTrue();
    assertThatThrownBy(() -> from(Map.of("newNodes", "ask")))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("ask", "newNodes=wait", "newNodes=trust");
  }

  @ParameterizedTest
  @ValueSource(strings = {"nodeTimeout", "quorumTimeout", "connectTimeout", "retryDelay"})
  @Rule("ERR-4")
  @DisplayName("a URL's times are above zero, and an hour at most")
  void theTimesOfAUrlAreInRange(String option) {
    assertThatCode(() -> from(Map.of(option, "1h"))).doesNotThrowAnyException();
    for (String wrong : List.of("0s", "3600001ms")) {
      assertThatThrownBy(() -> from(Map.of(option, wrong)))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContainingAll(option, wrong);
    }
  }

  @Test
  @Rule("ERR-4")
  @DisplayName("a program's times are above zero, and an hour at most")
  void theTimesOfAProgramAreInRange() {
    requireLimits("nodeTimeout", HOUR, time -> RedlockOptions.defaults().nodeTimeout(time));
    requireLimits("quorumTimeout", HOUR, time -> RedlockOptions.defaults().quorumTimeout(time));
    requireLimits("connectTimeout", HOUR, time -> RedlockOptions.defaults().connectTimeout(time));
    requireLimits("retryDelay", HOUR, time -> RedlockOptions.defaults().retryDelay(time));
    requirePositive("maxTtl", time -> RedlockOptions.defaults().maxTtl(time));
  }

  @Test
  @Rule("ERR-4")
  @DisplayName("a program's owner label is of 1 to 256 bytes")
  void anOwnerLabelOfAProgramIsInRange() {
    RedlockOptions defaults = RedlockOptions.defaults();
    assertThatCode(() -> defaults.ownerLabel("o".repeat(256))).doesNotThrowAnyException();
    assertThatThrownBy(() -> defaults.ownerLabel("o".repeat(257)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll("owner label", "257", "256");
  }

  @ParameterizedTest
  @CsvSource({"0,true", "0.99,true", "-0.001,false", "1,false", "NaN,false"})
  @Rule("ERR-4")
  @DisplayName("drift is from 0 % to 99 %")
  void driftIsInRange(double drift, boolean allowed) {
    if (allowed) {
      assertThat(RedlockOptions.defaults().drift(drift).forAlgorithm().validity().drift())
          .isEqualTo(drift);
    } else {
      assertThatThrownBy(() -> RedlockOptions.defaults().drift(drift))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("drift");
    }
  }

  @Test
  @DisplayName("changing options leaves the original unchanged")
  void optionsAreImmutable() {
    RedlockOptions changed = RedlockOptions.defaults().cluster("bills").connectLazily();
    RedlockOptions again = changed.cluster("mails");

    assertThat(RedlockOptions.defaults().forAlgorithm().cluster()).isEmpty();
    assertThat(RedlockOptions.defaults().forAlgorithm().isLazy()).isFalse();
    assertThat(changed.forAlgorithm().cluster()).isEqualTo("bills");
    assertThat(again.forAlgorithm().isLazy()).isTrue();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-5")
  @DisplayName("tokens come from a secure random generator by default")
  void tokensAreSecureRandom() {
    assertThat(RedlockOptions.defaults().forAlgorithm().random()).isInstanceOf(SecureRandom.class);
    RandomGenerator own = () -> 0;
    assertThat(RedlockOptions.defaults().random(own).forAlgorithm().random()).isSameAs(own);
  }

  private static void requireLimits(
      String what, Duration most, Function<Duration, RedlockOptions> set) {
    requirePositive(what, set);
    assertThatCode(() -> set.apply(most)).doesNotThrowAnyException();
    requireRefused(what, most.plusNanos(1), set);
  }

  private static void requirePositive(String what, Function<Duration, RedlockOptions> set) {
    assertThatCode(() -> set.apply(LEAST)).doesNotThrowAnyException();
    requireRefused(what, Duration.ZERO, set);
    requireRefused(what, LEAST.negated(), set);
  }

  private static void requireRefused(
      String what, Duration wrong, Function<Duration, RedlockOptions> set) {
    assertThatThrownBy(() -> set.apply(wrong))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContainingAll(what, wrong.toString());
  }

  private static RedlockOptions from(Map<String, String> options) {
    return RedlockOptions.from(LockUrl.parse("redlock:redis://h1:6379", options));
  }
}
