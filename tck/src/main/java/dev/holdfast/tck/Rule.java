package dev.holdfast.tck;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The rules of SPEC.md that a test proves. A test of the kit proves one alone. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Rule {
  /**
   * Returns the ids of the rules.
   *
   * @return for example {@code ACQ-3}
   */
  String[] value();
}
