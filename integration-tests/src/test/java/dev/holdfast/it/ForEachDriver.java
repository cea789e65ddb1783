package dev.holdfast.it;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the tests of a class once for each driver of Redlock that the run names, which its
 * constructor takes, or with one driver if the run names none.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ParameterizedClass(name = "{0}")
@MethodSource("dev.holdfast.it.Backend#named")
@interface ForEachDriver {}
