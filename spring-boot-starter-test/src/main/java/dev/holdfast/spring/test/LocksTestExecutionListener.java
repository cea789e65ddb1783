package dev.holdfast.spring.test;

import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Undoes after each test what the test did to locks, because tests share contexts. */
final class LocksTestExecutionListener implements TestExecutionListener {
  @Override
  public void afterTestMethod(TestContext test) {
    if (test.hasApplicationContext()) {
      ApplicationContext context = test.getApplicationContext();
      context.getBeanProvider(LockTestHandle.class).ifAvailable(LockTestHandle::reset);
    }
  }
}
