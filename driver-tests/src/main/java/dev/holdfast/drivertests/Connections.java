package dev.holdfast.drivertests;

import dev.holdfast.testnodes.TestNode;

/** The connections that a server counts. */
public final class Connections {
  private Connections() {}

  /** How many there are to a server, that of the test itself left out. */
  public static long to(TestNode server) {
    return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "normal")).lines().count() - 1;
  }
}
