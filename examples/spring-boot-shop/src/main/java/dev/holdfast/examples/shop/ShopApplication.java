package dev.holdfast.examples.shop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.scheduling.annotation.EnableScheduling;

/** One instance of the shop. It needs a database with the tables, and nodes. */
@SpringBootApplication
@EnableConfigurationProperties(ShopProperties.class)
@EnableScheduling
public class ShopApplication {
  /**
   * Starts the instance.
   *
   * @param args properties of Spring Boot
   */
  public static void main(String[] args) {
    SpringApplication.run(ShopApplication.class, args);
  }
}
