package dev.holdfast.testnodes;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** Bringing up several servers at the same time. */
record Launch<S extends Server>(Place<S> place, IntFunction<List<Integer>> ports) {
  private static final int ATTEMPTS = 10;

  /** The place of the servers. */
  @FunctionalInterface
  interface Place<S extends Server> {
    /** Makes one that is ready to be launched, with no data. */
    S prepare(int index, int port);
  }

  /**
   * Starts one server for each port, then waits for each. One that lost its port to another process
   * gets another.
   *
   * @return those that run, in the same order
   * @throws NodeException if one cannot be started. None is left running then
   */
  List<S> start(List<Integer> chosen) {
    List<S> servers = new ArrayList<>();
    boolean started = false;
    try {
      for (int i = 0; i < chosen.size(); i++) {
        servers.add(launch(i, chosen.get(i)));
      }
      for (int i = 0; i < servers.size(); i++) {
        for (int attempt = 1; !servers.get(i).awaitReady(TestNode.START_LIMIT); attempt++) {
          if (attempt == ATTEMPTS) {
            throw new NodeException(
                "Each of " + ATTEMPTS + " free ports was taken before node " + i + " could be.");
          }
          servers.set(i, launch(i, ports.apply(1).get(0)));
        }
      }
      started = true;
      return List.copyOf(servers);
    } finally {
      if (!started) {
        servers.forEach(Server::sendFinalKill);
        servers.forEach(Server::awaitEnd);
      }
    }
  }

  private S launch(int index, int port) {
    S server = place.prepare(index, port);
    server.launch();
    return server;
  }
}
