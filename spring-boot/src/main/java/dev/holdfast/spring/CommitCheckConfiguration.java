package dev.holdfast.spring;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.transaction.TransactionExecutionListener;

/** The check of transactions under a lock, also of another bean or of a template. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(TransactionExecutionListener.class)
class CommitCheckConfiguration {
  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static CommitCheckPostProcessor holdfastCommitCheckPostProcessor(BeanFactory beans) {
    return new CommitCheckPostProcessor(beans);
  }
}
