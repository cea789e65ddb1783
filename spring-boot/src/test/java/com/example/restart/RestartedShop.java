package com.example.restart;

import dev.holdfast.Locks;
import dev.holdfast.spring.Locked;
import java.util.concurrent.Callable;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** An application whose classes are loaded again at each restart. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class RestartedShop implements Callable<String> {
  @Bean
  Shipping shipping() {
    return new Shipping();
  }

  static class Shipping {
    @Locked(name = "order-#{#id}", keepAliveUpTo = "1h")
    public String ship(long id) {
      return Locks.current().orElseThrow().name();
    }
  }

  /** Starts, takes a lock, and closes. */
  @Override
  public String call() {
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(RestartedShop.class)
            .web(WebApplicationType.NONE)
            .properties(
                "holdfast.url=memory:restarted",
                "management.endpoints.jmx.exposure.include=*",
                "spring.docker.compose.enabled=false") // it looks for a file outside of tests
            .run()) {
      return context.getBean(Shipping.class).ship(4711);
    }
  }
}
