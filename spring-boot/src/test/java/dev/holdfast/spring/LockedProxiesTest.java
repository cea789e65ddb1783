package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.base.PackagePrivateBase;
import dev.holdfast.Locks;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The proxies of several kinds of advice, and the methods that a proxy does not see. */
class LockedProxiesTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final ApplicationContextRunner contexts = Contexts.inMemory();

  private static String place() {
    return Locks.requireCurrent("job").name()
        + (TransactionSynchronizationManager.isActualTransactionActive()
            ? " in a transaction"
            : "");
  }

  static class Worker {
    @Async
    @Locked(name = "job")
    @Transactional
    public CompletableFuture<String> asynchronous() {
      return CompletableFuture.completedFuture(place());
    }
  }

  static class Retrying {
    private final List<String> places = new CopyOnWriteArrayList<>();

    @Retryable(delay = 0, maxRetries = 1)
    @Locked(name = "job")
    @Transactional
    public List<String> retried() {
      places.add(place());
      if (places.size() == 1) {
        throw new IllegalStateException("of the first attempt");
      }
      return places;
    }
  }

  static class Transactions {
    @Bean
    PlatformTransactionManager transactions() {
      return new RecordingTransactionManager(PostgresServer.dataSource(), () -> {});
    }

    @Bean
    TaskExecutor taskExecutor() {
      return new SimpleAsyncTaskExecutor();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  @EnableAsync
  @EnableResilientMethods
  static class Late extends Transactions {}

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  @EnableAsync(order = Ordered.HIGHEST_PRECEDENCE)
  @EnableResilientMethods(order = Ordered.HIGHEST_PRECEDENCE)
  static class Early extends Transactions {}

  @Test
  void theLockIsInsideAsyncAndRetriesAndOutsideTransactions() {
    contexts
        .withUserConfiguration(Late.class)
        .withBean(Worker.class)
        .withBean(Retrying.class)
        .run(
            context -> {
              String place = "job in a transaction";
              assertThat(context.getBean(Worker.class).asynchronous())
                  .succeedsWithin(PATIENCE)
                  .isEqualTo(place);
              assertThat(context.getBean(Retrying.class).retried()).containsExactly(place, place);
            });
  }

  @ParameterizedTest
  @ValueSource(classes = {Worker.class, Retrying.class})
  void asyncOrRetriesInsideTheProxyOfTransactionsAreRefused(Class<?> type) {
    isRefused(
        contexts.withUserConfiguration(Early.class).withBean(type),
        type,
        "is called by @Async or @Retryable inside another proxy");
  }

  interface Handler<T> {
    String handle(T order);
  }

  static class OrderHandler implements Handler<String> {
    @Override
    @Locked(name = "job")
    public String handle(String order) {
      return place();
    }
  }

  static class HidingHandler extends OrderHandler {
    @Locked(name = "job")
    public void hidden() {}
  }

  @Test
  void aMethodThatIsMissingInTheInterfacesOfItsProxyIsRefused() {
    isRefused(
        contexts
            .withPropertyValues("spring.aop.proxy-target-class=false")
            .withBean(HidingHandler.class),
        HidingHandler.class,
        "hidden is not seen by its proxy");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aMethodOfAGenericInterfaceIsSeen(boolean isClassProxy) {
    contexts
        .withPropertyValues("spring.aop.proxy-target-class=" + isClassProxy)
        .withBean(OrderHandler.class)
        .run(
            context -> {
              @SuppressWarnings("unchecked")
              Handler<String> handler = context.getBean(Handler.class);
              assertThat(handler.handle("order")).isEqualTo("job");
            });
  }

  static class Child extends PackagePrivateBase {}

  @Test
  void aMethodThatOnlyAnotherPackageSeesIsRefused() {
    isRefused(contexts.withBean(Child.class), PackagePrivateBase.class, "is not seen by its proxy");
  }

  static class Neighbour {
    @Locked(name = "job")
    String run() {
      return place();
    }

    @Locked(name = "job")
    protected String runProtected() {
      return place();
    }
  }

  static class InheritingNeighbour extends Neighbour {}

  @Test
  void methodsThatTheProxysPackageSeesAreLocked() {
    contexts
        .withBean(InheritingNeighbour.class)
        .run(
            context -> {
              Neighbour neighbour = context.getBean(Neighbour.class);
              assertThat(neighbour.run()).isEqualTo("job");
              assertThat(neighbour.runProtected()).isEqualTo("job");
            });
  }

  interface Mapper {
    @Locked(name = "job")
    String find();
  }

  @Test
  void aMethodOfAnInterfaceThatOnlyAProxyWithoutAdviceImplementsIsRefusedByItsReason() {
    Object mapper =
        Proxy.newProxyInstance(
            Mapper.class.getClassLoader(),
            new Class<?>[] {Mapper.class},
            (proxy, method, arguments) -> method.getName().equals("hashCode") ? 1 : "found");
    isRefused(
        contexts.withBean("mapper", Object.class, () -> mapper),
        Mapper.class,
        "find is of an interface without a class of the application");
  }

  private static void isRefused(ApplicationContextRunner starting, Class<?> type, String message) {
    starting.run(
        context ->
            Failures.assertThatTheStartIsRefused(context)
                .hasMessageContaining(type.getName())
                .hasMessageContaining(message));
  }
}
