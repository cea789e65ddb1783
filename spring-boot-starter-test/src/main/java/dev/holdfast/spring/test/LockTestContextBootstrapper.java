package dev.holdfast.spring.test;

import org.springframework.boot.test.autoconfigure.TestSliceTestContextBootstrapper;

/** The start of a {@link LockTest}. */
final class LockTestContextBootstrapper extends TestSliceTestContextBootstrapper<LockTest> {}
