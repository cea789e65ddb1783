package dev.holdfast.tck;

import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherFactory;

/** A run of JUnit within a test, of which the build around it hears nothing. */
public final class InnerRun {
  private InnerRun() {}

  /** Runs what was asked for, and returns when it is over. */
  public static void of(LauncherDiscoveryRequest request, TestExecutionListener listener) {
    LauncherConfig alone =
        LauncherConfig.builder()
            .enableTestExecutionListenerAutoRegistration(false)
            .enableLauncherSessionListenerAutoRegistration(false)
            .enableLauncherDiscoveryListenerAutoRegistration(false)
            .build();
    LauncherFactory.create(alone).execute(request, listener);
  }
}
