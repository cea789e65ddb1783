package dev.holdfast.spring;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;

/** The condition of beans that are there unless {@code holdfast.enabled} is false. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ConditionalOnBooleanProperty(name = EnabledKey.NAME, matchIfMissing = true)
@interface ConditionalOnLocks {}
