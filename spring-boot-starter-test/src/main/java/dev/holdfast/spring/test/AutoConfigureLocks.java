package dev.holdfast.spring.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.PropertyMapping;

/**
 * A test whose locks are in memory. A manager in memory takes the place of each lock manager of the
 * application, under the name of its bean, so that no server is needed:
 *
 * <pre>
 * &#64;SpringBootTest
 * &#64;AutoConfigureLocks
 * class ShopTest {}
 * </pre>
 *
 * <p>The beans {@link LockTestHandle} and {@link dev.holdfast.memory.ManualClock} are there to be
 * injected. The clock goes at the speed of the machine, and {@code advance} moves it ahead. The
 * property {@code holdfast.test.locking} does the same for all tests that read it.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@PropertyMapping("holdfast.test")
public @interface AutoConfigureLocks {
  /**
   * Selects whether methods with {@link dev.holdfast.spring.Locked} take their locks. If they do
   * not, they run at once, and {@link dev.holdfast.Locks#current()} is empty inside.
   *
   * @return false for tests that do not care about locks
   */
  boolean locking() default true;
}
