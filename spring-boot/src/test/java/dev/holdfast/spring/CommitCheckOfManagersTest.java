package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.AbstractFactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/** The transaction managers that get the check of locks. They connect to nothing here. */
class CommitCheckOfManagersTest {
  private static final TransactionExecutionListener OWN = new TransactionExecutionListener() {};

  private static ApplicationContextRunner runner() {
    return Contexts.of(HoldfastAutoConfiguration.class)
        .withBean(LockManager.class, () -> LockManager.open("memory:"));
  }

  private static void assertThatTheLastIsTheOnlyCheck(JdbcTransactionManager manager) {
    Collection<TransactionExecutionListener> all = manager.getTransactionExecutionListeners();
    assertThat(all).filteredOn(CommitCheckListener.class::isInstance).hasSize(1);
    assertThat(new ArrayList<>(all).get(all.size() - 1)).isInstanceOf(CommitCheckListener.class);
  }

  @Configuration(proxyBeanMethods = false)
  static class WithImmutableListeners {
    @Bean
    JdbcTransactionManager transactionManager() {
      JdbcTransactionManager manager = new JdbcTransactionManager(new DriverManagerDataSource());
      manager.setTransactionExecutionListeners(List.of(OWN));
      return manager;
    }
  }

  @Test
  void aManagerWithAnImmutableListOfListenersHasThemAndTheCheck() {
    runner()
        .withUserConfiguration(WithImmutableListeners.class)
        .run(
            context -> {
              JdbcTransactionManager manager = context.getBean(JdbcTransactionManager.class);
              assertThat(manager.getTransactionExecutionListeners()).startsWith(OWN);
              assertThatTheLastIsTheOnlyCheck(manager);
            });
  }

  static class OfFactory extends AbstractFactoryBean<JdbcTransactionManager> {
    @Override
    public Class<?> getObjectType() {
      return JdbcTransactionManager.class;
    }

    @Override
    protected JdbcTransactionManager createInstance() {
      return new JdbcTransactionManager(new DriverManagerDataSource());
    }
  }

  @Test
  void aManagerThatAFactoryBeanMakesHasTheCheck() {
    runner()
        .withBean("transactionManager", OfFactory.class)
        .run(
            context ->
                assertThatTheLastIsTheOnlyCheck(context.getBean(JdbcTransactionManager.class)));
  }

  /** Does what Spring Boot does with the transaction managers that it creates. */
  @Configuration(proxyBeanMethods = false)
  static class WithAllListeners {
    @Bean
    TransactionExecutionListener own() {
      return OWN;
    }

    @Bean
    JdbcTransactionManager transactionManager(
        ObjectProvider<TransactionExecutionListener> listeners) {
      JdbcTransactionManager manager = new JdbcTransactionManager(new DriverManagerDataSource());
      listeners.forEach(manager::addListener);
      return manager;
    }
  }

  @Test
  void theOnlyBeanThatListensIsThatOfTheApplication() {
    runner()
        .withUserConfiguration(WithAllListeners.class)
        .run(
            context -> {
              assertThat(context.getBean(TransactionExecutionListener.class)).isSameAs(OWN);
              assertThatTheLastIsTheOnlyCheck(context.getBean(JdbcTransactionManager.class));
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class WithLateListener {
    @Bean
    JdbcTransactionManager transactionManager() {
      return new JdbcTransactionManager(new DriverManagerDataSource());
    }

    /** A component that listens itself, as one that records transactions. */
    @Bean
    Object recorder(JdbcTransactionManager manager) {
      manager.addListener(OWN);
      return "recorder";
    }
  }

  @Test
  void theCheckComesAfterListenersThatOtherBeansHaveAdded() {
    runner()
        .withUserConfiguration(WithLateListener.class)
        .run(
            context -> {
              JdbcTransactionManager manager = context.getBean(JdbcTransactionManager.class);
              assertThat(manager.getTransactionExecutionListeners()).startsWith(OWN);
              assertThatTheLastIsTheOnlyCheck(manager);
            });
  }

  @Test
  void aManagerInTwoContextsHasOneCheck() {
    JdbcTransactionManager shared = new JdbcTransactionManager(new DriverManagerDataSource());
    for (int i = 0; i < 2; i++) {
      runner().withBean(JdbcTransactionManager.class, () -> shared).run(context -> {});
    }
    assertThatTheLastIsTheOnlyCheck(shared);
  }

  @Configuration(proxyBeanMethods = false)
  static class NeededEarly {
    @Bean
    JdbcTransactionManager transactionManager() {
      return new JdbcTransactionManager(new DriverManagerDataSource());
    }

    @Bean
    static BeanPostProcessor needsTransactions(JdbcTransactionManager manager) {
      return new BeanPostProcessor() {};
    }
  }

  @Test
  void aManagerThatAnotherPostProcessorNeedsHasTheCheck() {
    runner()
        .withUserConfiguration(NeededEarly.class)
        .run(
            context ->
                assertThatTheLastIsTheOnlyCheck(context.getBean(JdbcTransactionManager.class)));
  }

  @Test
  void aManagerThatIsRegisteredAsASingletonHasTheCheck() {
    JdbcTransactionManager manager = new JdbcTransactionManager(new DriverManagerDataSource());
    runner()
        .withInitializer(context -> context.getBeanFactory().registerSingleton("own", manager))
        .run(context -> assertThatTheLastIsTheOnlyCheck(manager));
  }

  @Test
  void aLazyManagerIsNotCreatedForTheCheck() {
    runner()
        .withBean(
            JdbcTransactionManager.class,
            () -> {
              throw new IllegalStateException("created");
            },
            definition -> definition.setLazyInit(true))
        .run(context -> assertThat(context).hasNotFailed());
  }
}
