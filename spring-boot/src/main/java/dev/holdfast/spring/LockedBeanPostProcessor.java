package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Puts the lock around methods with {@link Locked}: outside the advice that the proxy already has,
 * such as that of transactions, and inside that of {@code @Async} and {@code @Retryable}, which
 * usually come later. Refuses methods that cannot be locked when their bean is created, and at the
 * start if their bean is created later.
 */
final class LockedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
    implements SmartInitializingSingleton {
  private static final long serialVersionUID = 1L;
  private static final String TRANSACTIONS =
      "org.springframework.transaction.support.TransactionSynchronizationManager";

  /** The packages of the advice of {@code @Async} and of {@code @Retryable}. */
  private static final List<String> CALLS =
      List.of(
          "org.springframework.scheduling.annotation.",
          "org.springframework.aop.interceptor.Async",
          "org.springframework.resilience.");

  private final transient ConfigurableListableBeanFactory beans;
  private final transient Set<LockedMethod> advised = ConcurrentHashMap.newKeySet();
  private final transient LockedSettings settings;
  private final transient LockedMethods methods;
  private final transient LockManagers managers;
  private final transient Advisor lock;
  private final transient Advisor commitCheck;
  private transient boolean started;

  LockedBeanPostProcessor(ConfigurableListableBeanFactory beans, Environment environment) {
    this.beans = beans;
    settings = new LockedSettings(beans, environment);
    methods = new LockedMethods(settings);
    managers = new LockManagers(beans);
    Transactions transactions =
        ClassUtils.isPresent(TRANSACTIONS, beans.getBeanClassLoader())
            ? new SpringTransactions()
            : Transactions.NONE;
    lock = LockedAdvisor.of(new LockedInterceptor(methods, managers, transactions));
    commitCheck = LockedAdvisor.of(new CommitCheckInterceptor(methods, transactions));
    advisor = lock;
    setBeforeExistingAdvisors(true);
    setProxyTargetClass(
        environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
    // Before the processors of @Async and @Retryable, which put their advice outside.
    setOrder(Ordered.LOWEST_PRECEDENCE - 100);
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String beanName) {
    if (bean instanceof AopInfrastructureBean) {
      return bean;
    }
    Class<?> target = AopProxyUtils.ultimateTargetClass(bean);
    requireNoneInInterfacesApart(bean, target);
    Collection<LockedMethod> found = methods.in(target);
    if (found.isEmpty()) {
      return bean;
    }
    requireNoCallInside(bean, found.iterator().next());
    found.forEach(this::requireUsable);
    Object proxy = proxyOf(bean, beanName, found.iterator().next());
    if (AopUtils.isAopProxy(bean) && proxy != bean) {
      throw refused(
          found.iterator().next(),
          "has a proxy that takes no further advice, so that the lock would not be checked before"
              + " the commit; do not freeze the proxy and do not make it opaque");
    }
    if (proxy instanceof Advised chain) {
      moveInside(chain);
      chain.addAdvisor(commitCheck);
    }
    found.forEach(method -> requireSeen(method, target, proxy));
    return proxy;
  }

  private Object proxyOf(Object bean, String beanName, LockedMethod method) {
    try {
      return super.postProcessAfterInitialization(bean, beanName);
    } catch (AopConfigException e) {
      if (!Modifier.isFinal(bean.getClass().getModifiers())) {
        throw e;
      }
      throw new LockConfigurationException(
          "@Locked on "
              + method
              + " cannot be seen by a proxy, because the class is final; open the class, or let it"
              + " implement an interface with the method and annotate it with"
              + " @Proxyable(ProxyType.INTERFACES)",
          e);
    }
  }

  /**
   * Refuses a proxy around another proxy with the advice of {@code @Async} or {@code @Retryable}:
   * the lock would be outside. Two orders make such proxies, for example that of {@code @Async}
   * before that of transactions.
   */
  private static void requireNoCallInside(Object bean, LockedMethod method) {
    Object inner = AopProxyUtils.getSingletonTarget(bean);
    while (inner instanceof Advised chain) {
      if (Stream.of(chain.getAdvisors()).anyMatch(LockedBeanPostProcessor::isOfTheCall)) {
        throw refused(
            method,
            "is called by @Async or @Retryable inside another proxy, so that the lock would not"
                + " cover the work; remove the order of @EnableAsync or @EnableResilientMethods");
      }
      inner = AopProxyUtils.getSingletonTarget(chain);
    }
  }

  /** Refuses a method that no method of the proxy overrides or implements. */
  private static void requireSeen(LockedMethod method, Class<?> target, Object proxy) {
    Stream<Method> ofProxy =
        AopUtils.isJdkDynamicProxy(proxy)
            ? Stream.of(ClassUtils.getAllInterfaces(proxy))
                .flatMap(type -> Stream.of(type.getMethods()))
            : Stream.of(proxy.getClass().getDeclaredMethods());
    if (ofProxy.noneMatch(each -> method.isCalledBy(each, target))) {
      throw refused(
          method,
          "is not seen by its proxy; make it public, or declare it in the interface, or remove"
              + " spring.aop.proxy-target-class=false");
    }
  }

  /**
   * Moves the lock inside the advice of {@code @Async} and {@code @Retryable}, which is there
   * already if an application has set its order.
   */
  private void moveInside(Advised chain) {
    List<Advisor> all = List.of(chain.getAdvisors());
    int inside = all.size();
    while (inside > 0 && !isOfTheCall(all.get(inside - 1))) {
      inside--;
    }
    int mine = all.indexOf(lock);
    if (mine >= 0 && mine < inside) {
      chain.removeAdvisor(mine);
      chain.addAdvisor(inside - 1, lock);
    }
  }

  /** Tells whether advice decides when, and how often, the method is called. */
  private static boolean isOfTheCall(Advisor advisor) {
    String advice = advisor.getAdvice().getClass().getName();
    return CALLS.stream().anyMatch(advice::startsWith);
  }

  /**
   * Refuses methods of interfaces that a proxy implements by itself, such as a repository of Spring
   * Data or a client of a declarative interface: its transactions begin inside the proxy, out of
   * reach of the check before the commit.
   */
  private void requireNoneInInterfacesApart(Object bean, Class<?> target) {
    boolean hasNoClass = Proxy.isProxyClass(target);
    if (!hasNoClass && !AopUtils.isAopProxy(bean)) {
      return;
    }
    for (Class<?> type : ClassUtils.getAllInterfaces(bean)) {
      if (hasNoClass || !type.isAssignableFrom(target)) {
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
    if (!settings.isEnabled()) {
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

  /**
   * Finds the manager of each method, so that a missing one or a wrong ttl fails the start, also if
   * the bean is lazy or of another scope.
   */
  @Override
  public void afterSingletonsInstantiated() {
    Stream.of(beans.getBeanDefinitionNames())
        .flatMap(name -> typeOfALaterBean(name).stream())
        .flatMap(type -> methods.in(type).stream())
        .forEach(this::requireUsable);
    started = true;
    advised.forEach(this::requireServed);
  }

  /** Returns the class of a bean that is not created yet, if its definition says a class. */
  private Optional<Class<?>> typeOfALaterBean(String name) {
    if (beans.containsSingleton(name) || beans.getMergedBeanDefinition(name).isAbstract()) {
      return Optional.empty();
    }
    return Optional.<Class<?>>ofNullable(beans.getType(name, false))
        .filter(type -> !type.isInterface()) // the class may name parameters in another way
        .filter(type -> !AopInfrastructureBean.class.isAssignableFrom(type));
  }

  private void requireServed(LockedMethod method) {
    method.requireServedBy(managers.get(method));
  }
}
