package dev.holdfast.testsupport;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The rules of SPEC.md that a test outside the kit proves. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Rule {
  /**
   * Returns the names of the rules.
   *
   * @return for example {@code ACQ-3}
   */
  String[] value();
}
