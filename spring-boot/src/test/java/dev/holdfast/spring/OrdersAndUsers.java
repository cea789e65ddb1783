package dev.holdfast.spring;

import dev.holdfast.LockManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Two lock managers of an application. */
@Configuration(proxyBeanMethods = false)
class OrdersAndUsers {
  @Bean
  LockManager orders() {
    return LockManager.open("memory:");
  }

  @Bean
  LockManager users() {
    return LockManager.open("memory:");
  }
}
