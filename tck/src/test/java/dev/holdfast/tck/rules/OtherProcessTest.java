package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The command of another process. */
class OtherProcessTest {
  @Test
  void theModulePathIsOnItsClassPath() {
    String before = System.getProperty("jdk.module.path");
    System.setProperty("jdk.module.path", "/lib/of-an-author-with-a-module-info.jar");
    try {
      assertThat(OtherProcess.classPath())
          .contains(System.getProperty("java.class.path"))
          .endsWith("/lib/of-an-author-with-a-module-info.jar");
    } finally {
      if (before == null) {
        System.clearProperty("jdk.module.path");
      } else {
        System.setProperty("jdk.module.path", before);
      }
    }
  }
}
