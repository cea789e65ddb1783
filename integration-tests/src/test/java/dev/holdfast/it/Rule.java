package dev.holdfast.it;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The rules of SPEC.md that a test proves. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Rule {
  /** For example {@code ACQ-3}. */
  String[] value();
}
