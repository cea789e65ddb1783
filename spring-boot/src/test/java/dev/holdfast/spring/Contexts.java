package dev.holdfast.spring;

import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Application contexts with some auto-configurations and no others. */
final class Contexts {
  private Contexts() {}

  /** Returns contexts with these auto-configurations. */
  static ApplicationContextRunner of(Class<?>... autoConfigurations) {
    return new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(autoConfigurations));
  }

  /** Returns contexts with locks in memory. */
  static ApplicationContextRunner inMemory() {
    return of(HoldfastAutoConfiguration.class).withPropertyValues("holdfast.url=memory:");
  }

  /** Returns the properties that a text lists with blanks between them, each with a prefix. */
  static String[] properties(String prefix, String listed) {
    return Stream.of(listed.split(" ", -1)).map(prefix::concat).toArray(String[]::new);
  }
}
