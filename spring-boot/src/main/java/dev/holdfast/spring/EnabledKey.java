package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** The key {@value #NAME}, for code that no condition of Boot serves. */
final class EnabledKey {
  static final String NAME = "holdfast.enabled";

  private EnabledKey() {}

  /**
   * Returns whether locks are switched on.
   *
   * @throws LockConfigurationException if Boot's conditions and its binder disagree about the text,
   *     as about "on", which would leave methods without a manager
   */
  static boolean isTrue(Environment environment) {
    String text = environment.getProperty(NAME, "true");
    boolean isBound = Binder.get(environment).bind(NAME, Boolean.class).orElse(true);
    if (isBound && !text.equalsIgnoreCase("true")) {
      throw new LockConfigurationException(
          NAME + " is '" + text + "'; set it to true or false, or remove it");
    }
    return isBound;
  }
}
