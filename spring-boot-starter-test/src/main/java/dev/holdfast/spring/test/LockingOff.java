package dev.holdfast.spring.test;

/**
 * A bean whose presence tells the auto-configuration of locks, which knows this class by its name,
 * that methods with {@code @Locked} run without a lock.
 */
final class LockingOff {}
