package dev.holdfast.spring;

import java.lang.reflect.Method;
import org.aopalliance.aop.Advice;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/** Pointcuts of the methods with {@link Locked}. */
final class LockedAdvisor {
  private LockedAdvisor() {}

  static DefaultPointcutAdvisor of(Advice advice) {
    return new DefaultPointcutAdvisor(
        new StaticMethodMatcherPointcut() {
          @Override
          public boolean matches(Method method, Class<?> targetClass) {
            return LockedMethods.isLocked(method, targetClass);
          }
        },
        advice);
  }
}
