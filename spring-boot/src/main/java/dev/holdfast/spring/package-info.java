/**
 * Holdfast in Spring Boot applications: the auto-configuration of a {@link
 * dev.holdfast.LockManager}, and {@link dev.holdfast.spring.Locked} for methods of beans.
 */
@NullMarked
package dev.holdfast.spring;

import org.jspecify.annotations.NullMarked;
