/**
 * Tests of code that takes locks, with JUnit 5 and 6: {@link dev.holdfast.junit.HoldfastExtension}
 * gives each test a fresh manager, fails a test that leaves a lease open, and adds who held what to
 * each failure.
 */
@NullMarked
package dev.holdfast.junit;

import org.jspecify.annotations.NullMarked;
