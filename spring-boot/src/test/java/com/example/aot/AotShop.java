package com.example.aot;

import dev.holdfast.LockManager;
import dev.holdfast.Locks;
import dev.holdfast.spring.Locked;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.springframework.aot.AotDetector;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** An application that is processed ahead of time, and prints how its locks work. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class AotShop {
  @Bean
  Shipping shipping() {
    return new Shipping();
  }

  @Bean
  MeterRegistry registry() {
    return new SimpleMeterRegistry();
  }

  /** An argument whose property names a lock. */
  public record Order(Customer customer, long id) {}

  /** A property of an argument. */
  public record Customer(String name) {}

  static class Shipping {
    @Locked(name = "${shop.prefix}-#{#order.customer.name}-#{#order.id}")
    public String ship(Order order) {
      return Locks.current().orElseThrow().name();
    }
  }

  public static void main(String[] arguments) {
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(AotShop.class).web(WebApplicationType.NONE).run(arguments)) {
      Shipping shipping = context.getBean(Shipping.class);
      System.out.println("processed: " + AotDetector.useGeneratedArtifacts());
      System.out.println("name: " + shipping.ship(new Order(new Customer("ada"), 7)));
      System.out.println("leases: " + context.getBean(LockManager.class).leases().size());
      System.out.println(
          "granted: "
              + context
                  .getBean(MeterRegistry.class)
                  .get("holdfast.acquire")
                  .tags("outcome", "granted", "manager", "lockManager")
                  .timer()
                  .count());
      System.out.println("managers: " + context.getBeansOfType(LockManager.class).keySet());
      System.out.println("endpoint: " + context.containsBean("holdfastLocksEndpoint"));
    }
  }
}
