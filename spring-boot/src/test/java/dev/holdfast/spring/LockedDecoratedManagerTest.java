package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.micrometer.HoldfastObservations;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import reactor.core.publisher.Mono;

/** A manager and its decorator as two beans. They give out the same locks. */
class LockedDecoratedManagerTest {
  static class Shop {
    @Locked(name = "order-1", manager = "plain")
    public <T> T plain(Supplier<T> work) {
      return work.get();
    }

    @Locked(name = "order-1", manager = "decorated")
    public <T> T decorated(Supplier<T> work) {
      return work.get();
    }

    @Locked(name = "order-1", manager = "plain")
    public Mono<String> plainMono(Supplier<Mono<String>> work) {
      return work.get();
    }

    @Locked(name = "order-1", manager = "decorated")
    public Mono<String> decoratedMono(Supplier<Mono<String>> work) {
      return work.get();
    }
  }

  private static void run(Consumer<Shop> use) {
    LockManager plain = LockManager.open("memory:");
    Contexts.of(HoldfastAutoConfiguration.class)
        .withBean("plain", LockManager.class, () -> plain)
        .withBean(
            "decorated",
            LockManager.class,
            () -> HoldfastObservations.observed(plain, "orders", ObservationRegistry.create()))
        .withBean(Shop.class)
        .run(context -> use.accept(context.getBean(Shop.class)));
  }

  @Test
  void callsOnOneThreadJoin() {
    run(shop -> assertThat(shop.<String>plain(() -> shop.decorated(() -> "x"))).isEqualTo("x"));
  }

  @Test
  void callsInOneTransactionJoin() {
    run(
        shop -> {
          TransactionSynchronizationManager.initSynchronization();
          TransactionSynchronizationManager.setActualTransactionActive(true);
          try {
            shop.plain(() -> "first");
            assertThat(shop.<String>decorated(() -> "second")).isEqualTo("second");
            List<TransactionSynchronization> known =
                TransactionSynchronizationManager.getSynchronizations();
            known.forEach(
                each -> each.afterCompletion(TransactionSynchronization.STATUS_COMMITTED));
          } finally {
            TransactionSynchronizationManager.clear();
          }
          assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
        });
  }

  @Test
  void callsInOneChainJoin() {
    run(
        shop ->
            assertThat(shop.plainMono(() -> shop.decoratedMono(() -> Mono.just("x"))).block())
                .isEqualTo("x"));
  }
}
