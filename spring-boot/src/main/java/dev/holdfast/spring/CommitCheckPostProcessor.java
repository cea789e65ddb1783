package dev.holdfast.spring;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Adds the check of locks to all transaction managers that are beans. It comes after the listeners
 * that the application has added by the time at which all singletons exist.
 */
final class CommitCheckPostProcessor implements BeanPostProcessor, SmartInitializingSingleton {
  private final List<ConfigurableTransactionManager> managers = new ArrayList<>();

  @Override
  public Object postProcessBeforeInitialization(Object bean, String name) {
    addCheck(bean);
    return bean;
  }

  /** The object that a factory bean has made is not seen before. */
  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    addCheck(bean);
    return bean;
  }

  private void addCheck(Object bean) {
    if (bean instanceof PlatformTransactionManager platform
        && bean instanceof ConfigurableTransactionManager manager
        && checkOf(manager) == null) {
      moveToEnd(manager, new CommitCheckListener(platform));
      synchronized (managers) {
        managers.add(manager);
      }
    }
  }

  @Override
  public void afterSingletonsInstantiated() {
    synchronized (managers) {
      for (ConfigurableTransactionManager manager : managers) {
        CommitCheckListener check = checkOf(manager);
        if (check != null) {
          moveToEnd(manager, check);
        }
      }
      managers.clear();
    }
  }

  private static @Nullable CommitCheckListener checkOf(ConfigurableTransactionManager manager) {
    for (TransactionExecutionListener each : manager.getTransactionExecutionListeners()) {
      if (each instanceof CommitCheckListener check) {
        return check;
      }
    }
    return null;
  }

  /** Sets a new list, because that of the application may be immutable. */
  private static void moveToEnd(ConfigurableTransactionManager manager, CommitCheckListener check) {
    List<TransactionExecutionListener> listeners =
        new ArrayList<>(manager.getTransactionExecutionListeners());
    listeners.remove(check);
    listeners.add(check);
    manager.setTransactionExecutionListeners(listeners);
  }
}
