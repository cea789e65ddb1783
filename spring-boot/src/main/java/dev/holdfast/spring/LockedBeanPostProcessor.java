package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Puts the lock around methods with {@link Locked}: outside the advice that the proxy already has,
 * such as that of transactions, and inside that of {@code @Async} and {@code @Retryable}, which
 * come later. Refuses methods that cannot be locked when their bean is created.
 */
final class LockedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
    implements SmartInitializingSingleton {
  private static final long serialVersionUID = 1L;
  private static final String TRANSACTIONS =
      "org.springframework.transaction.support.TransactionSynchronizationManager";

  private final transient Environment environment;
  private final transient Set<LockedMethod> advised = ConcurrentHashMap.newKeySet();
  private transient @Nullable LockedSettings settings;
  private transient @Nullable LockedMethods methods;
  private transient @Nullable LockManagers managers;
  private transient @Nullable Advisor commitCheck;
  private transient boolean started;

  LockedBeanPostProcessor(Environment environment) {
    this.environment = environment;
    setBeforeExistingAdvisors(true);
    setProxyTargetClass(
        environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
    // Before the processors of @Async and @Retryable, which put their advice outside.
    setOrder(Ordered.LOWEST_PRECEDENCE - 100);
  }

  @Override
  public void setBeanFactory(BeanFactory beanFactory) {
    super.setBeanFactory(beanFactory);
    var beans = (ConfigurableListableBeanFactory) beanFactory;
    settings = new LockedSettings(beans, environment);
    methods = new LockedMethods(settings);
    managers = new LockManagers(beans);
    Transactions transactions =
        ClassUtils.isPresent(TRANSACTIONS, beans.getBeanClassLoader())
            ? new SpringTransactions()
            : Transactions.NONE;
    advisor = LockedAdvisor.of(methods, new LockedInterceptor(methods, managers, transactions));
    commitCheck = LockedAdvisor.of(methods, new CommitCheckInterceptor(methods, transactions));
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String beanName) {
    if (methods == null || bean instanceof AopInfrastructureBean) {
      return bean;
    }
    Class<?> target = AopUtils.getTargetClass(bean);
    requireNoneInInterfacesApart(bean, target);
    Collection<LockedMethod> found = methods.in(target);
    if (found.isEmpty()) {
      return bean;
    }
    found.forEach(this::requireUsable);
    Object proxy = super.postProcessAfterInitialization(bean, beanName);
    if (AopUtils.isAopProxy(bean) && proxy != bean) {
      throw refused(
          found.iterator().next(),
          "has a proxy that takes no further advice, so that the lock would not be checked before"
              + " the commit; do not freeze the proxy and do not make it opaque");
    }
    if (proxy instanceof Advised chain && commitCheck != null && !chain.isFrozen()) {
      chain.addAdvisor(commitCheck);
    }
    return proxy;
  }

  /**
   * Refuses methods of interfaces that a proxy implements by itself, such as a repository of Spring
   * Data: its transactions begin inside the proxy, out of reach of the check before the commit.
   */
  private void requireNoneInInterfacesApart(Object bean, Class<?> target) {
    if (methods == null || !AopUtils.isAopProxy(bean)) {
      return;
    }
    for (Class<?> type : ClassUtils.getAllInterfaces(bean)) {
      if (!type.isAssignableFrom(target)) {
        methods.in(type).stream()
            .findFirst()
            .ifPresent(
                method -> {
                  throw refused(
                      method,
                      "is of an interface without a class of the application; put the annotation"
                          + " on a method of a bean that calls it");
                });
      }
    }
  }

  private static LockConfigurationException refused(LockedMethod method, String why) {
    return new LockConfigurationException("@Locked on " + method + " " + why);
  }

  private void requireUsable(LockedMethod method) {
    if (settings != null && !settings.isEnabled()) {
      throw new LockConfigurationException(
          "@Locked on "
              + method
              + " takes no lock while holdfast.enabled is false; set holdfast.enabled to true, or"
              + " remove the annotation");
    }
    advised.add(method);
    if (started) {
      requireServed(method);
    }
  }

  /** Finds the manager of each method, so that a missing one or a wrong ttl fails the start. */
  @Override
  public void afterSingletonsInstantiated() {
    started = true;
    advised.forEach(this::requireServed);
  }

  private void requireServed(LockedMethod method) {
    if (managers != null) {
      method.requireServedBy(managers.get(method));
    }
  }
}
