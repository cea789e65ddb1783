package dev.holdfast.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.LockUrl;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryProviderTest {
  private static final Duration TTL = Duration.ofSeconds(30);

  @Test
  void memoryIsAStoreOfTheManagersOwn() throws Exception {
    try (LockManager one = LockManager.open("memory:");
        LockManager two = LockManager.open("memory:")) {
      assertThat(one.tryAcquire("x", TTL)).isPresent();
      assertThat(two.tryAcquire("x", TTL)).isPresent();
    }
  }

  @Test
  void memoryWithANameIsAStoreThatManagersOfThisJvmShare() throws Exception {
    String url = "memory:" + UUID.randomUUID();
    try (LockManager one = LockManager.open(url);
        LockManager two = LockManager.open(url);
        LockManager other = LockManager.open(url + "-other")) {
      Lease held = one.acquire("x", TTL);
      assertThat(two.tryAcquire("x", TTL)).isEmpty();
      assertThat(other.tryAcquire("x", TTL)).isPresent();
      assertThat(held.release()).isTrue();
      assertThat(two.tryAcquire("x", TTL)).isPresent();
    }
  }

  @Test
  void aListenerOfTheBuilderLearnsOfTheFirstRequest() throws Exception {
    List<String> granted = new ArrayList<>();
    LockListener listener =
        new LockListener() {
          @Override
          public void onGranted(String name, long leaseId, long waited, int votes, int margin) {
            granted.add(name);
          }
        };
    try (LockManager manager = LockManager.builder("memory:").listener(listener).open()) {
      assertThat(manager.tryAcquire("a", TTL)).isPresent();
      assertThat(manager.backend()).isEqualTo("memory");
    }

    assertThat(granted).containsExactly("a");
  }

  @Test
  void aWallClockThatIsSetAheadEndsALease() throws Exception {
    AtomicLong ahead = new AtomicLong();
    InstantSource clock = () -> Instant.now().plusSeconds(ahead.get());
    try (LockManager manager = LockManager.builder("memory:").wallClock(clock).open()) {
      Lease lease = manager.acquire("a", TTL);

      ahead.set(TTL.toSeconds());

      assertThat(lease.isHeld()).isFalse();
    }
  }

  @Test
  void aStoreThatManagersShareTakesNoWallClockOfOne() {
    assertThatThrownBy(
            () -> LockManager.builder("memory:shared").wallClock(InstantSource.system()).open())
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("memory:shared has the machine's clock: leave the wall clock out");
  }

  @Test
  void aManagerGivesItsStoreAsTheTestHandle() {
    String url = "memory:" + UUID.randomUUID();
    try (LockManager one = LockManager.open(url);
        LockManager two = LockManager.open(url);
        LockManager alone = LockManager.open("memory:")) {
      assertThat(one.unwrap(MemoryStore.class)).isPresent();
      assertThat(two.unwrap(MemoryStore.class)).isEqualTo(one.unwrap(MemoryStore.class));
      assertThat(alone.unwrap(MemoryStore.class))
          .isPresent()
          .isNotEqualTo(one.unwrap(MemoryStore.class));
      assertThat(one.unwrap(String.class)).isEmpty();
    }
  }

  @Test
  void itDeclaresAllButFaultTolerance() {
    try (LockManager manager = LockManager.open("memory:")) {
      assertThat(manager.capabilities())
          .containsExactlyInAnyOrder(
              LockCapability.EXTENSION,
              LockCapability.KEEP_ALIVE,
              LockCapability.FENCING_TOKEN,
              LockCapability.OWNER_SAFE_RELEASE,
              LockCapability.HOLD_AT_LEAST,
              LockCapability.FIFO_IN_PROCESS,
              LockCapability.INSPECTION,
              LockCapability.FORCE_RELEASE,
              LockCapability.TRANSFER);
    }
  }

  @Test
  void theUrlSetsTheLongestTtlAndTheOwner() throws Exception {
    try (LockManager manager = LockManager.open("memory:?maxTtl=40s&owner=alice")) {
      Lease lease = manager.acquire("x", Duration.ofSeconds(40));
      assertThat(lease.token()).matches("alice:[0-9a-f]{40}");
      assertThat(manager.inspect("x").map(LockStatus::ownerLabel)).contains("alice");
      assertThatThrownBy(() -> manager.tryAcquire("y", Duration.ofSeconds(41)))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("41s")
          .hasMessageContaining("40s");
    }
  }

  @Test
  void optionsBesideTheUrlOverrideIt() throws Exception {
    try (LockManager manager = LockManager.open("memory:?owner=alice", Map.of("owner", "bob"))) {
      assertThat(manager.acquire("x", TTL).token()).startsWith("bob:");
    }
  }

  @Test
  void anOptionThatIsNotKnownIsRefusedWithTheNearestOne() {
    assertThatThrownBy(() -> LockManager.open("memory:?retryDely=5ms"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("retryDely")
        .hasMessageContaining("the nearest is retryDelay");
  }

  @Test
  void optionsOfRedlockAloneAreTaken() {
    LockManager.open(
            "memory:?nodeTimeout=2s&quorumTimeout=3s&connectTimeout=1s&connect=lazy&drift=10%"
                + "&fencing=false&restartGuard=off&newNodes=trust&cluster=bills")
        .close();
    LockManager.open("memory:?nodeTimeout=2s&quorumTimeout=10ms&restartGuard=").close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nodeTimeout=0ms",
        "nodeTimeout=2h",
        "quorumTimeout=0ms",
        "quorumTimeout=2h",
        "connectTimeout=x",
        "connect=sometimes",
        "drift=100%",
        "fencing=perhaps",
        "restartGuard=perhaps",
        "newNodes=never",
        "retryDelay=2h",
      })
  void aValueThatRedlockWouldRefuseIsRefused(String option) {
    assertThatThrownBy(() -> LockManager.open("memory:?" + option))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining(option.substring(0, option.indexOf('=')));
  }

  @Test
  void aKeyPrefixKeepsLocksApart() throws Exception {
    String url = "memory:" + UUID.randomUUID();
    try (LockManager bills = LockManager.open(url + "?keyPrefix=bills:");
        LockManager orders = LockManager.open(url + "?keyPrefix=orders:");
        LockManager bare = LockManager.open(url)) {
      Lease lease = bills.acquire("x", TTL);
      assertThat(orders.tryAcquire("x", TTL)).isPresent();
      assertThat(bare.tryAcquire("bills:x", TTL)).isEmpty();
      assertThat(bills.inspect("x").map(LockStatus::name)).contains("x");
      lease.extend(TTL);
      assertThat(lease.release()).isTrue();
      assertThat(bare.tryAcquire("bills:x", TTL)).isPresent();
      assertThat(bills.forceRelease("x")).isTrue();
    }
  }

  @Test
  void aNameThatRedlockKeepsForItselfIsRefused() {
    try (LockManager locks = LockManager.open("memory:")) {
      assertThatThrownBy(() -> locks.tryAcquire("holdfast:guard", TTL))
          .isInstanceOf(LockConfigurationException.class)
          .hasMessageContaining("holdfast:");
    }
  }

  @Test
  void anOwnerThatIsTooLongIsRefused() {
    assertThatThrownBy(() -> LockManager.open("memory:?owner=" + "o".repeat(257)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("owner")
        .hasMessageContaining("256");
  }

  @Test
  void aLongestTtlAboveAYearIsRefused() {
    assertThatThrownBy(() -> LockManager.open("memory:?maxTtl=31536001s"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("maxTtl")
        .hasMessageContaining("365 days");
  }

  @Test
  void aRetryDelayOfZeroIsRefused() {
    assertThatThrownBy(() -> LockManager.open("memory:?retryDelay=0ms"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("retryDelay");
  }

  @Test
  void nodesAreRefusedBecauseThereAreNone() {
    assertThatThrownBy(() -> LockManager.open("memory:redis://h1:6379"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("memory:name");
  }

  @Test
  void aDriverIsNotAcceptedBecauseThereIsNone() {
    MemoryProvider provider = new MemoryProvider();
    assertThat(provider.accepts(url("memory:lettuce:redis://h1:6379"))).isFalse();
    assertThat(provider.accepts(url("redlock:redis://h1:6379"))).isFalse();
    assertThat(provider.accepts(url("memory:"))).isTrue();
    assertThat(provider.accepts(url("memory:orders?maxTtl=1s"))).isTrue();
  }

  private static LockUrl url(String text) {
    return LockUrl.parse(text, Map.of());
  }
}
