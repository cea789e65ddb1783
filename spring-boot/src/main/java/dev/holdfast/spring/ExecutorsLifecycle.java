package dev.holdfast.spring;

import java.util.Objects;
import java.util.stream.Stream;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.Lifecycle;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * The end of executors that start a thread for each task, such as Boot's for virtual threads. They
 * have no phase, so that their last tasks would end after the lock managers. Here they end in the
 * phase of all other executors, as soon as the context closes.
 */
final class ExecutorsLifecycle implements SmartLifecycle, ApplicationListener<ContextClosedEvent> {
  private final ConfigurableListableBeanFactory beans;
  private volatile boolean running;
  private volatile boolean isClosing;

  ExecutorsLifecycle(ConfigurableListableBeanFactory beans) {
    this.beans = beans;
  }

  @Override
  public void onApplicationEvent(ContextClosedEvent event) {
    isClosing |= event.getApplicationContext().getAutowireCapableBeanFactory() == beans;
  }

  @Override
  public void start() {
    running = true;
  }

  /** Waits as long as each executor waits for its tasks by its own setting. */
  @Override
  public void stop() {
    running = false;
    if (isClosing) { // a context that is stopped may start again, an executor may not
      executors().forEach(SimpleAsyncTaskExecutor::close);
    }
  }

  /** Waits on a thread of its own, so that other beans of the phase stop meanwhile. */
  @Override
  public void stop(Runnable callback) {
    Runnable stop =
        () -> {
          try {
            stop();
          } finally {
            callback.run();
          }
        };
    new Thread(stop, "holdfast-executors").start();
  }

  /** Returns those that have been created, and do not stop by themselves. */
  private Stream<SimpleAsyncTaskExecutor> executors() {
    return Stream.of(beans.getBeanNamesForType(SimpleAsyncTaskExecutor.class, false, false))
        .map(beans::getSingleton)
        .filter(Objects::nonNull)
        .filter(executor -> !(executor instanceof Lifecycle))
        .map(SimpleAsyncTaskExecutor.class::cast);
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  /** Returns false: a paused context keeps its executors. */
  @Override
  public boolean isPauseable() {
    return false;
  }

  @Override
  public int getPhase() {
    return ExecutorConfigurationSupport.DEFAULT_PHASE;
  }
}
