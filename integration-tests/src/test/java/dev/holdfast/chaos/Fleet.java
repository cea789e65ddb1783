package dev.holdfast.chaos;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntFunction;
import java.util.random.RandomGenerator;

/** The clients of one run. */
final class Fleet implements AutoCloseable {
  private final List<ClientProcess> clients = new CopyOnWriteArrayList<>();
  private final IntFunction<ClientProcess> starter;
  private int started;

  /**
   * Starts some.
   *
   * @param starter starts the one with this number, which no other process has
   */
  Fleet(int count, IntFunction<ClientProcess> starter) throws InterruptedException {
    this.starter = starter;
    for (int i = 0; i < count; i++) {
      clients.add(starter.apply(started++));
    }
    awaitReady();
  }

  List<ClientProcess> all() {
    return clients;
  }

  ClientProcess any(RandomGenerator random) {
    return clients.get(random.nextInt(clients.size()));
  }

  /** Another one comes in place of one that is gone. */
  void replace(ClientProcess gone) {
    clients.set(clients.indexOf(gone), starter.apply(started++));
  }

  /** Returns when all are at work. */
  void awaitReady() throws InterruptedException {
    for (ClientProcess client : clients) {
      client.awaitReady();
    }
  }

  /** All let go of what they hold, and end. */
  void end() {
    clients.forEach(ClientProcess::end);
    for (ClientProcess client : clients) {
      int code = client.awaitEnd();
      if (code != 0) {
        throw new IllegalStateException("a client ended with " + code);
      }
    }
  }

  @Override
  public void close() {
    clients.forEach(ClientProcess::kill);
  }
}
