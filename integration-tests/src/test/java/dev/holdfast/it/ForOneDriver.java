package dev.holdfast.it;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the tests of a class with one driver of Redlock, which its constructor takes: the first that
 * the run is for. For tests of servers, scripts and the algorithm, which are the same for all
 * drivers. Runs on other servers are for other drivers.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ParameterizedClass(name = "{0}")
@MethodSource("dev.holdfast.it.Backend#first")
@interface ForOneDriver {}
