package dev.holdfast.core;

import dev.holdfast.LockRequest;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;

/** The label of holders that give none. */
final class OwnerLabel {
  private OwnerLabel() {}

  static String ofThisProcess() {
    return host() + ":" + ProcessHandle.current().pid();
  }

  /** Returns a manager's label, held to the limits of those that requests give. */
  static String of(String label) {
    return LockRequest.of("any", Duration.ofSeconds(1))
        .ownerLabel(label)
        .ownerLabel()
        .orElseThrow();
  }

  private static String host() {
    String host = System.getenv("HOSTNAME");
    if (host != null && !host.isBlank()) {
      return host;
    }
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }
}
