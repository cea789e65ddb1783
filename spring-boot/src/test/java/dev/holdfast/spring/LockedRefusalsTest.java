package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.Locks;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import kotlin.coroutines.Continuation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.ProxyType;
import org.springframework.context.annotation.Proxyable;

/** The methods with {@link Locked} that fail the start. */
class LockedRefusalsTest {
  private final ApplicationContextRunner contexts =
      Contexts.inMemory().withPropertyValues("shop.prefix=order");

  interface Repository {
    @Locked(name = "order-#{#id}")
    default void ship(int id) {}
  }

  @Test
  void aMethodOfAnInterfaceThatAProxyImplementsByItselfIsRefused() {
    ProxyFactory repository = new ProxyFactory(new Object());
    repository.addInterface(Repository.class);
    contexts
        .withBean("repository", Object.class, repository::getProxy)
        .run(
            context ->
                Failures.assertThatTheStartIsRefused(context)
                    .hasMessageContaining("Repository.ship is of an interface without a class"));
  }

  @Test
  void aBeanWhoseProxyTakesNoAdviceIsRefused() {
    ProxyFactory frozen = new ProxyFactory(new LockedTest.Shop());
    frozen.setProxyTargetClass(true);
    frozen.setFrozen(true);
    contexts
        .withBean("shop", Object.class, frozen::getProxy)
        .run(
            context ->
                Failures.assertThatTheStartIsRefused(context)
                    .hasMessageContaining("a proxy that takes no further advice"));
  }

  static class PrimitiveSkip {
    @Locked(name = "a", whenHeld = Locked.WhenHeld.SKIP)
    public int run() {
      return 1;
    }
  }

  static class OptionalNumberSkip {
    @Locked(name = "a", whenHeld = Locked.WhenHeld.SKIP)
    public OptionalInt run() {
      return OptionalInt.empty();
    }
  }

  static class StageOfOptionalNumberSkip {
    @Locked(name = "a", whenHeld = Locked.WhenHeld.SKIP)
    public CompletableFuture<OptionalInt> run() {
      return CompletableFuture.completedFuture(OptionalInt.empty());
    }
  }

  static class Private {
    @SuppressWarnings("UnusedMethod")
    @Locked(name = "a")
    private void run() {}
  }

  static class Final {
    @Locked(name = "a")
    public final void run() {}
  }

  static final class OfAFinalClass {
    @Locked(name = "a")
    public void run() {}
  }

  record OfARecord() {
    @Locked(name = "a")
    public void run() {}
  }

  static class UnknownPlaceholder {
    @Locked(name = "${shop.prefix}-${no.such}-#{#id}")
    public void run(Object id) {}
  }

  static class UnknownPlaceholderOfADuration {
    @Locked(name = "a", ttl = "${no.such}")
    public void run() {}
  }

  static class Static {
    @Locked(name = "a")
    public static void run() {}
  }

  static class OfFuture {
    @Locked(name = "a")
    public Future<String> run() {
      return new CompletableFuture<>();
    }
  }

  static class OfPublisher {
    @Locked(name = "a")
    public Flow.Publisher<String> run() {
      return subscriber -> {};
    }
  }

  static class OfStream {
    @Locked(name = "a")
    public Stream<String> run() {
      return Stream.of();
    }
  }

  static class Coroutine {
    @Locked(name = "a")
    public Object run(Continuation<String> continuation) {
      return continuation;
    }
  }

  static class UnknownParameter {
    @Locked(name = "a-#{#order.id}")
    public void run(Object id) {}
  }

  static class NoTemplate {
    @Locked(name = "a-#{#id")
    public void run(Object id) {}
  }

  static class WrongDuration {
    @Locked(name = "a", waitAtMost = "soon")
    public void run() {}
  }

  static class KeepAliveBelowTtl {
    @Locked(name = "a", ttl = "10s", keepAliveUpTo = "5s")
    public void run() {}
  }

  static class UnknownManager {
    @Locked(name = "a", manager = "absent")
    public void run() {}
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        PrimitiveSkip.class,
        OptionalNumberSkip.class,
        StageOfOptionalNumberSkip.class,
        Private.class,
        Final.class,
        Static.class,
        OfAFinalClass.class,
        OfARecord.class,
        UnknownPlaceholder.class,
        UnknownPlaceholderOfADuration.class,
        OfFuture.class,
        OfPublisher.class,
        OfStream.class,
        Coroutine.class,
        UnknownParameter.class,
        NoTemplate.class,
        WrongDuration.class,
        KeepAliveBelowTtl.class,
        UnknownManager.class
      })
  void aMethodThatCannotBeLockedFailsTheStartByItsName(Class<?> type) {
    contexts
        .withBean(type)
        .run(
            context -> {
              LockConfigurationException cause = null;
              for (Throwable t = context.getStartupFailure(); t != null; t = t.getCause()) {
                if (cause == null && t instanceof LockConfigurationException found) {
                  cause = found;
                }
              }
              assertThat(cause).isNotNull().hasMessageContaining(type.getName() + ".run");
            });
  }

  @ParameterizedTest
  @ValueSource(classes = {OfAFinalClass.class, OfARecord.class})
  void theReasonThatAClassCannotBeLockedSaysWhatToDo(Class<?> type) {
    contexts
        .withBean(type)
        .run(
            context ->
                assertThat(Failures.analyze(context).getAction())
                    .startsWith("Open the class, or let it implement an interface"));
  }

  @ParameterizedTest
  @ValueSource(classes = {UnknownPlaceholder.class, UnknownPlaceholderOfADuration.class})
  void aPlaceholderWithoutAValueIsNamed(Class<?> type) {
    for (ApplicationContextRunner each :
        List.of(
            contexts,
            contexts.withConfiguration(
                AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class)))) {
      each.withBean(type)
          .run(
              context ->
                  assertThat(Failures.analyze(context).getDescription())
                      .contains(type.getName() + ".run", "no.such"));
    }
  }

  interface Job {
    String run();
  }

  @Proxyable(ProxyType.INTERFACES)
  record JobOfARecord() implements Job {
    @Locked(name = "a")
    @Override
    public String run() {
      return Locks.requireCurrent("a").name();
    }
  }

  @Test
  void aRecordBehindItsInterfaceIsLocked() {
    contexts
        .withBean(JobOfARecord.class)
        .run(context -> assertThat(context.getBean(Job.class).run()).isEqualTo("a"));
  }
}
