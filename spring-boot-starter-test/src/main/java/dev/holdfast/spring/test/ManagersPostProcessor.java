package dev.holdfast.spring.test;

import dev.holdfast.LockManager;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Puts a manager in memory in the place of each lock manager of the application, before any is
 * opened, or adds one if there is none.
 */
@Order(Ordered.LOWEST_PRECEDENCE)
final class ManagersPostProcessor implements BeanDefinitionRegistryPostProcessor {
  /** The name of the bean of the type {@link MemoryManagers}. */
  static final String FACTORY = "holdfastTestManagers";

  private static final String DEFAULT = "lockManager";

  /** The name of the manager if a bean of another type has the usual one. */
  private static final String SECOND_DEFAULT = "holdfastLockManager";

  @Override
  public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
    String[] names =
        ((ConfigurableListableBeanFactory) registry)
            .getBeanNamesForType(LockManager.class, true, false);
    for (String name : names) {
      BeanDefinition replaced = registry.getBeanDefinition(name);
      registry.removeBeanDefinition(name);
      registry.registerBeanDefinition(name, inMemory(replaced));
    }
    if (names.length == 0) {
      String name = registry.isBeanNameInUse(DEFAULT) ? SECOND_DEFAULT : DEFAULT;
      registry.registerBeanDefinition(name, inMemory(new RootBeanDefinition()));
    }
  }

  private static BeanDefinition inMemory(BeanDefinition replaced) {
    RootBeanDefinition manager = new RootBeanDefinition();
    manager.setTargetType(LockManager.class);
    manager.setFactoryBeanName(FACTORY);
    manager.setFactoryMethodName("open");
    manager.setDestroyMethodName("close");
    manager.setPrimary(replaced.isPrimary());
    manager.setFallback(replaced.isFallback());
    manager.setAutowireCandidate(replaced.isAutowireCandidate());
    if (replaced instanceof AbstractBeanDefinition definition) {
      manager.copyQualifiersFrom(definition);
      manager.setDefaultCandidate(definition.isDefaultCandidate());
    }
    return manager;
  }

  @Override
  public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {}
}
