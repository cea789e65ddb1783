package dev.holdfast.testnodes;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Ports on which nothing listened when they were chosen. */
final class Ports {
  static final String HOST = "127.0.0.1";

  /**
   * Below the range from which systems take the local ports of outgoing connections (from 32768 on
   * Linux). Inside of it, a client that keeps trying to reach a killed node can be given that very
   * port, connect to itself, and so keep the node from coming back.
   */
  private static final int LOWEST = 10_000;

  private static final int HIGHEST = 32_767;
  private static final int ATTEMPTS_PER_PORT = 200;

  private Ports() {}

  /** Returns free ports, all different. Another process may still take one before it is used. */
  static List<Integer> free(int count) {
    List<ServerSocket> held = new ArrayList<>();
    try {
      for (int i = 0; i < count * ATTEMPTS_PER_PORT && held.size() < count; i++) {
        tryHold(held);
      }
      if (held.size() < count) {
        throw new NodeException(
            "Found only "
                + held.size()
                + " of "
                + count
                + " free ports between "
                + LOWEST
                + " and "
                + HIGHEST
                + " on "
                + HOST
                + ": stop what listens there, or start fewer nodes.");
      }
      return held.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      held.forEach(Ports::close);
    }
  }

  /** Returns whether no process listens on a port. */
  static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static void tryHold(List<ServerSocket> held) {
    ServerSocket socket = null;
    try {
      socket = new ServerSocket();
      int port = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST + 1);
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      held.add(socket);
    } catch (IOException e) {
      if (socket != null) {
        close(socket);
      }
    }
  }

  private static void close(ServerSocket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // It held a port for a short time, and nothing was sent over it.
    }
  }
}
