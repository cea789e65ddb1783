package dev.holdfast.spring;

import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Adds the check of locks to all transaction managers that are beans, also to those that other
 * post-processors need. It comes after the listeners that the application has added by the time at
 * which all singletons exist.
 */
final class CommitCheckPostProcessor implements BeanPostProcessor, SmartInitializingSingleton {
  private final BeanFactory beans;

  CommitCheckPostProcessor(BeanFactory beans) {
    this.beans = beans;
  }

  @Override
  public Object postProcessBeforeInitialization(Object bean, String name) {
    addCheck(bean);
    return bean;
  }

  /** Adds the check to the object that a factory bean has made, which was not seen before. */
  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    addCheck(bean);
    return bean;
  }

  @Override
  public void afterSingletonsInstantiated() {
    for (BeanFactory at = beans;
        at instanceof ConfigurableListableBeanFactory factory;
        at = factory.getParentBeanFactory()) {
      for (String name :
          factory.getBeanNamesForType(PlatformTransactionManager.class, false, false)) {
        if (factory.containsSingleton(name)) { // a lazy one is seen when it is created
          addCheck(factory.getBean(name));
        }
      }
    }
  }

  /** Sets a new list with the check at its end, because the present list may be immutable. */
  private static void addCheck(Object bean) {
    if (bean instanceof PlatformTransactionManager platform
        && bean instanceof ConfigurableTransactionManager manager) {
      List<TransactionExecutionListener> listeners =
          new ArrayList<>(manager.getTransactionExecutionListeners());
      listeners.removeIf(CommitCheckListener.class::isInstance);
      listeners.add(new CommitCheckListener(platform));
      manager.setTransactionExecutionListeners(listeners);
    }
  }
}
