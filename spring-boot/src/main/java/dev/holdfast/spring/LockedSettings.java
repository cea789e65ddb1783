package dev.holdfast.spring;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * The settings that all methods with {@link Locked} share.
 *
 * @param beans resolves placeholders and beans in names
 * @param environment the values of the keys, read before any bean is created
 */
record LockedSettings(ConfigurableBeanFactory beans, Environment environment) {
  boolean isEnabled() {
    return EnabledKey.isTrue(environment);
  }

  String ttl() {
    return Binder.get(environment).bind("holdfast.locked.ttl", String.class).orElse("30s");
  }

  /**
   * Resolves the placeholders in a text of an annotation.
   *
   * @throws IllegalArgumentException if a placeholder has neither a value nor a default
   */
  String resolve(String text) {
    String resolved = beans.resolveEmbeddedValue(text);
    return resolved == null
        ? ""
        : environment.resolveRequiredPlaceholders(resolved); // the factory may leave some
  }
}
