package dev.holdfast.spring;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/** Adds the check of locks to the transaction managers that the application defines itself. */
record CommitCheckPostProcessor(TransactionExecutionListener check) implements BeanPostProcessor {
  @Override
  public Object postProcessBeforeInitialization(Object bean, String name) {
    if (bean instanceof PlatformTransactionManager
        && bean instanceof ConfigurableTransactionManager manager
        && !manager.getTransactionExecutionListeners().contains(check)) {
      manager.addListener(check);
    }
    return bean;
  }
}
