package dev.holdfast.tck;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What to check when a test of the kit fails; shown with the failure. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface IfThisFails {
  /** A sentence that begins with "check". */
  String value();
}
