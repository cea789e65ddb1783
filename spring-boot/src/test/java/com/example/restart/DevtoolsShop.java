package com.example.restart;

import dev.holdfast.Locks;
import dev.holdfast.spring.Locked;
import dev.holdfast.testsupport.Eventually;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.devtools.restart.Restarter;
import org.springframework.boot.devtools.restart.classloader.RestartClassLoader;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;

/** An application that leads until it closes, and that devtools restarts twice. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class DevtoolsShop {
  private static final int RESTARTS = 2;
  private static final long START_LIMIT_SECONDS = 60;

  // New ones in each start, whose class loader is another one.
  private static final CountDownLatch LEADS = new CountDownLatch(1);
  private static final CountDownLatch CLOSING = new CountDownLatch(1);

  /** Starts the application, of which devtools makes a start in a class loader of its own. */
  public static void main(String[] args) throws InterruptedException {
    if (DevtoolsShop.class.getClassLoader() instanceof RestartClassLoader) {
      start(args);
      return;
    }
    try {
      start(args); // devtools throws an exception when the application has started
    } finally {
      for (int restart = 0; restart < RESTARTS; restart++) {
        restart();
      }
      awaitDaemonsAlone(); // or devtools leaves the exit code of its exception
    }
  }

  private static void start(String[] args) throws InterruptedException {
    ApplicationContext context =
        new SpringApplicationBuilder(DevtoolsShop.class).web(WebApplicationType.NONE).run(args);
    Shop shop = context.getBean(Shop.class);
    FutureTask<Object> work =
        new FutureTask<>(
            () -> {
              shop.lead();
              return null;
            });
    Thread leader = new Thread(work, "shop-leader");
    leader.setDaemon(true);
    leader.start();
    boolean leads = LEADS.await(Eventually.LIMIT.toSeconds(), TimeUnit.SECONDS);
    System.out.println("started: " + shop.ship(4711) + ", leads: " + leads);
    starts().release();
  }

  private static void restart() throws InterruptedException {
    Set<Thread> former = threadsOfContexts();
    System.out.println("threads: " + names(former));
    starts().drainPermits();
    Restarter.getInstance().restart(); // returns before the application has closed
    if (!starts().tryAcquire(START_LIMIT_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the application has not started again");
    }
    Eventually.soon()
        .until(
            () -> {
              former.removeIf(thread -> !thread.isAlive());
              return former.isEmpty();
            });
    System.out.println("restarted: all of these threads have ended");
  }

  private static void awaitDaemonsAlone() {
    Thread own = Thread.currentThread();
    Eventually.soon()
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .allMatch(thread -> thread.isDaemon() || thread == own));
  }

  /** Returns a permit for each start. Devtools keeps it over the restarts. */
  private static Semaphore starts() {
    return (Semaphore) Restarter.getInstance().getOrAddAttribute("starts", () -> new Semaphore(0));
  }

  /** Returns our threads, and those that keep the classes of an application loaded. */
  private static Set<Thread> threadsOfContexts() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(
            thread ->
                thread.getName().startsWith("holdfast")
                    || thread.getContextClassLoader() instanceof RestartClassLoader)
        .collect(Collectors.toSet());
  }

  private static Set<String> names(Set<Thread> threads) {
    return threads.stream().map(Thread::getName).collect(Collectors.toSet());
  }

  @Bean
  Shop shop() {
    return new Shop();
  }

  @EventListener(ContextClosedEvent.class)
  void endLead() {
    CLOSING.countDown();
  }

  static class Shop {
    @Locked(name = "order-#{#id}", keepAliveUpTo = "1h")
    public String ship(long id) {
      return Locks.current().orElseThrow().name();
    }

    @Locked(name = "leader", keepAliveUpTo = "1h")
    public void lead() throws InterruptedException {
      LEADS.countDown();
      CLOSING.await();
    }
  }
}
