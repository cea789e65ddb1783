package dev.holdfast.core;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** The label of a holder that gives none. */
final class OwnerLabel {
  private OwnerLabel() {}

  static String ofThisProcess() {
    return host() + ":" + ProcessHandle.current().pid();
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
