package dev.holdfast.tck.rules;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Advice for a test of the kit that fails, shown with the failure. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface IfThisFails {
  /** Returns a sentence that begins with "check". */
  String value();
}
