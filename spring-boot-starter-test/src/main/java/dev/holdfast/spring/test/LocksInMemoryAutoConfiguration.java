package dev.holdfast.spring.test;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.memory.ManualClock;
import dev.holdfast.spring.HoldfastAutoConfiguration;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Role;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Auto-configuration of locks in memory for tests, where {@code holdfast.test.locking} is set. No
 * class outside of this module reads that property.
 */
@AutoConfiguration(before = HoldfastAutoConfiguration.class)
@Conditional(LocksInMemoryAutoConfiguration.OnSwitch.class)
public final class LocksInMemoryAutoConfiguration {
  private static final String SWITCH = "holdfast.test.locking";

  /** Makes the auto-configuration, for Spring. */
  public LocksInMemoryAutoConfiguration() {}

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static ManagersPostProcessor holdfastTestManagersPostProcessor() {
    return new ManagersPostProcessor();
  }

  @Bean
  ManualClock holdfastTestClock() {
    return ManualClock.running();
  }

  @Bean(ManagersPostProcessor.FACTORY)
  MemoryManagers holdfastTestManagers(ManualClock clock) {
    return new MemoryManagers(clock);
  }

  @Bean
  LockTestHandle holdfastLockTestHandle(
      ObjectProvider<LockManager> manager,
      ObjectProvider<Map<String, LockManager>> managers,
      ManualClock clock) {
    return new LockTestHandle(manager, managers, clock);
  }

  @Bean
  @ConditionalOnProperty(name = SWITCH, havingValue = "false")
  LockingOff holdfastLockingOff() {
    return new LockingOff();
  }

  /** Matches if the switch is set, and refuses a value that could be read in two ways. */
  static final class OnSwitch extends SpringBootCondition {
    @Override
    public ConditionOutcome getMatchOutcome(
        ConditionContext context, AnnotatedTypeMetadata metadata) {
      String value = context.getEnvironment().getProperty(SWITCH);
      ConditionMessage.Builder message = ConditionMessage.forCondition(SWITCH);
      if (value == null) {
        return ConditionOutcome.noMatch(message.because("it is not set"));
      }
      if (!value.equalsIgnoreCase("true") && !value.equalsIgnoreCase("false")) {
        throw new LockConfigurationException(
            SWITCH + " is '" + value + "'; set it to true or false, or remove it");
      }
      return ConditionOutcome.match(message.because("it is " + value));
    }
  }
}
