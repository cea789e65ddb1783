package dev.holdfast.spring;

import dev.holdfast.LockManager;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/**
 * The end of executors and schedulers that start a thread for each task, such as Boot's for virtual
 * threads. Spring waits for their last tasks when beans are destroyed, after the lock managers have
 * closed. Here they end before the managers, once all other executors have stopped. Without a
 * manager nothing ends here.
 */
final class ExecutorsLifecycle implements SmartLifecycle, ApplicationListener<ContextClosedEvent> {
  /** Below the phase in which schedulers stop by themselves: lower phases stop later. */
  static final int PHASE = ExecutorConfigurationSupport.DEFAULT_PHASE - 1;

  private static final Logger LOG = System.getLogger(HoldfastAutoConfiguration.class.getName());

  /** A thread for each, so that their times to wait do not add up. */
  private static final Executor THREADS = task -> new Thread(task, "holdfast-executors").start();

  private final ConfigurableListableBeanFactory beans;
  private final ApplicationContext context;
  private volatile boolean running;
  private volatile boolean isClosing;

  ExecutorsLifecycle(ConfigurableListableBeanFactory beans, ApplicationContext context) {
    this.beans = beans;
    this.context = context;
  }

  @Override
  public void onApplicationEvent(ContextClosedEvent event) {
    if (event.getApplicationContext() == context) {
      isClosing = true;
    }
  }

  /** Returns false: the event must come before the stop. */
  @Override
  public boolean supportsAsyncExecution() {
    return false;
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    stop(() -> {});
  }

  /** Ends executors on threads of their own. Each waits for its tasks by its own setting. */
  @Override
  public void stop(Runnable callback) {
    running = false;
    List<CompletableFuture<Void>> ends =
        isClosing // a context that is stopped may start again, an executor may not
                && hasManager()
            ? executors()
                .map(executor -> CompletableFuture.runAsync(() -> close(executor), THREADS))
                .toList()
            : List.of();
    CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).thenRun(callback);
  }

  private static void close(SimpleAsyncTaskExecutor executor) {
    try {
      executor.close();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.WARNING, "an executor could not be closed before the lock managers", e);
    }
  }

  private boolean hasManager() {
    return beans.getBeanNamesForType(LockManager.class, true, false).length > 0;
  }

  /** Returns the executors that exist: none is created for its end. */
  private Stream<SimpleAsyncTaskExecutor> executors() {
    return Stream.of(beans.getBeanNamesForType(SimpleAsyncTaskExecutor.class, false, false))
        .map(beans::getSingleton)
        .filter(SimpleAsyncTaskExecutor.class::isInstance)
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
    return PHASE;
  }
}
