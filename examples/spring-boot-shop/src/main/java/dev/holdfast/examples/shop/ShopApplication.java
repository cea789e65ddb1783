package dev.holdfast.examples.shop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;

/** One instance of the shop. */
@SpringBootApplication
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
