package dev.holdfast.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.filter.annotation.TypeExcludeFilters;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * A test of the methods with {@link dev.holdfast.spring.Locked} alone. Only components with such
 * methods are beans, and only the auto-configuration of locks is applied, with locks in memory as
 * with {@link AutoConfigureLocks}. The test declares what the components need, for example by
 * {@code @MockitoBean}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@BootstrapWith(LockTestContextBootstrapper.class)
@ExtendWith(SpringExtension.class)
@OverrideAutoConfiguration(enabled = false)
@TypeExcludeFilters(LockTypeExcludeFilter.class)
@AutoConfigureLocks
@ImportAutoConfiguration
public @interface LockTest {
  /**
   * Adds properties to the environment.
   *
   * @return texts of the form {@code key=value}
   */
  String[] properties() default {};

  /**
   * Selects whether components with methods with {@link dev.holdfast.spring.Locked} are beans.
   *
   * @return false for those of {@link #includeFilters()} alone
   */
  boolean useDefaultFilters() default true;

  /**
   * Adds components.
   *
   * @return filters of components
   */
  Filter[] includeFilters() default {};

  /**
   * Leaves components out.
   *
   * @return filters of components
   */
  Filter[] excludeFilters() default {};

  /**
   * Leaves auto-configurations out.
   *
   * @return classes of auto-configurations
   */
  @AliasFor(annotation = ImportAutoConfiguration.class, attribute = "exclude")
  Class<?>[] excludeAutoConfiguration() default {};
}
