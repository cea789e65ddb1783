package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import java.lang.reflect.Method;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.core.PriorityOrdered;

/**
 * Refuses beans with {@link Locked} that are created before {@link LockedBeanPostProcessor} serves,
 * and whose methods would run without a lock. Singletons that were not created by the container,
 * such as mocks, pass.
 */
final class EarlyBeans implements BeanDefinitionRegistryPostProcessor, PriorityOrdered {
  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE; // other processors of definitions may create beans
  }

  @Override
  public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
    if (registry instanceof AbstractBeanFactory beans) {
      beans.addBeanPostProcessor(new Watch(beans));
    }
  }

  /** A processor of all beans, which comes before all others that the application has. */
  private static final class Watch implements BeanPostProcessor {
    private final AbstractBeanFactory beans;
    private volatile boolean isOver;

    Watch(AbstractBeanFactory beans) {
      this.beans = beans;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
      if (!isOver() && !(bean instanceof AopInfrastructureBean)) {
        LockedMethods.anyIn(AopProxyUtils.ultimateTargetClass(bean))
            .ifPresent(
                method -> {
                  throw refused(method, name);
                });
      }
      return bean;
    }

    private boolean isOver() {
      if (!isOver) {
        isOver =
            beans.getBeanPostProcessors().stream()
                .anyMatch(LockedBeanPostProcessor.class::isInstance);
      }
      return isOver;
    }

    private static LockConfigurationException refused(Method method, String bean) {
      return new LockConfigurationException(
          "@Locked on "
              + LockedMethod.describe(method)
              + " takes no lock, because the bean '"
              + bean
              + "' is needed by a BeanPostProcessor, and so is created before locks are set up;"
              + " inject an ObjectProvider there, or make the @Bean method of that processor static"
              + " if its configuration needs the bean");
    }
  }
}
