package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;

/** The managers of methods with {@link Locked}, each looked up once. Safe for many threads. */
final class LockManagers {
  private final BeanFactory beans;
  private final Map<String, LockManager> found = new ConcurrentHashMap<>();

  LockManagers(BeanFactory beans) {
    this.beans = beans;
  }

  /**
   * Finds the manager of a method.
   *
   * @throws LockConfigurationException if there is none, or more than one to choose from
   */
  LockManager get(LockedMethod method) {
    LockManager known = found.get(method.manager());
    if (known != null) {
      return known;
    }
    LockManager manager = find(method);
    found.put(method.manager(), manager);
    return manager;
  }

  private LockManager find(LockedMethod method) {
    String name = method.manager();
    try {
      return name.isEmpty()
          ? beans.getBean(LockManager.class)
          : beans.getBean(name, LockManager.class);
    } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException e) {
      throw new LockConfigurationException(
          "@Locked on "
              + method
              + (name.isEmpty() ? " needs one lock manager" : " needs the lock manager")
              + (name.isEmpty() ? "" : " '" + name + "'")
              + "; set holdfast.url, holdfast.nodes or holdfast.managers, or define a bean of the type"
              + " LockManager, and name it in the annotation's attribute manager if there are several\n"
              + e.getMessage(),
          e);
    }
  }
}
