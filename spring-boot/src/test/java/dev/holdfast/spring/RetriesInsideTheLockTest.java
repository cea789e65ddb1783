package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.memory.MemoryStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.DefaultPointcutAdvisor;

/** Advice inside of the lock that calls the method several times, as retries of other libraries. */
class RetriesInsideTheLockTest {
  interface Work {
    String run() throws InterruptedException;
  }

  static class Shop {
    @Locked(name = "order-1")
    public String ship(Work work) throws InterruptedException {
      return work.run();
    }
  }

  interface Use {
    void with(Shop shop, MemoryStore store) throws Exception;
  }

  private static void runWithRetries(Use use) {
    LockManager locks = LockManager.open("memory:");
    MethodInterceptor retry =
        call -> {
          try {
            return ((ProxyMethodInvocation) call).invocableClone().proceed();
          } catch (IllegalArgumentException again) {
            return call.proceed();
          }
        };
    Contexts.of(HoldfastAutoConfiguration.class)
        .withBean(LockManager.class, () -> locks)
        .withBean(Shop.class)
        .run(
            context -> {
              Shop shop = context.getBean(Shop.class);
              ((Advised) shop).addAdvisor(1, new DefaultPointcutAdvisor(retry));
              use.with(shop, locks.unwrap(MemoryStore.class).orElseThrow());
            });
  }

  @Test
  void aLossInterruptsTheSecondTry() {
    runWithRetries(
        (shop, store) -> {
          List<Integer> tries = new ArrayList<>();
          assertThatThrownBy(
                  () ->
                      shop.ship(
                          () -> {
                            tries.add(tries.size());
                            if (tries.size() == 1) {
                              throw new IllegalArgumentException("again");
                            }
                            LockedTest.lose(store);
                            new CountDownLatch(1).await(1, TimeUnit.MINUTES);
                            throw new AssertionError("not interrupted");
                          }))
              .isInstanceOf(LockLostException.class)
              .hasCauseInstanceOf(InterruptedException.class);
          assertThat(tries).hasSize(2);
          assertThat(Thread.interrupted()).isFalse();
        });
  }

  @Test
  void aLossBetweenTheTriesRefusesTheSecondOne() {
    runWithRetries(
        (shop, store) -> {
          List<Integer> tries = new ArrayList<>();
          assertThatThrownBy(
                  () ->
                      shop.ship(
                          () -> {
                            tries.add(tries.size());
                            LockedTest.lose(store);
                            throw new IllegalArgumentException("again");
                          }))
              .isInstanceOf(LockLostException.class);
          assertThat(tries).hasSize(1);
          assertThat(Thread.interrupted()).isFalse();
        });
  }
}
