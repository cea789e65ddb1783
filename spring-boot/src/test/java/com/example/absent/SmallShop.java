package com.example.absent;

import dev.holdfast.LockManager;
import dev.holdfast.Locks;
import dev.holdfast.spring.Locked;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.util.ClassUtils;

/** An application that some library is absent from, and that prints how its locks work. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class SmallShop {
  @Bean
  Shipping shipping() {
    return new Shipping();
  }

  /** A bean whose lock needs no library. */
  public static class Shipping {
    @Locked(name = "order-#{#id}")
    public String ship(long id) {
      return Locks.current().orElseThrow().name();
    }
  }

  /**
   * Runs the application.
   *
   * @param arguments a class of the absent library, then properties
   */
  public static void main(String[] arguments) {
    String absent = arguments[0];
    if (!ClassUtils.isPresent(absent, null)) {
      System.out.println("absent: " + absent);
    }
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(SmallShop.class)
            .web(WebApplicationType.NONE)
            .properties("management.endpoints.web.exposure.include=locks")
            .run(arguments)) {
      System.out.println("name: " + context.getBean(Shipping.class).ship(7));
      System.out.println("leases: " + context.getBean(LockManager.class).leases().size());
      System.out.println("endpoint: " + context.containsBean("holdfastLocksEndpoint"));
    }
  }
}
