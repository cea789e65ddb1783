/**
 * Tests of Spring Boot applications that use locks: {@link dev.holdfast.spring.test.LockTest} for
 * the methods with {@code @Locked} alone, {@link dev.holdfast.spring.test.AutoConfigureLocks} for
 * all other tests, and {@link dev.holdfast.spring.test.LockTestHandle} to take locks away.
 */
@NullMarked
package dev.holdfast.spring.test;

import org.jspecify.annotations.NullMarked;
