package dev.holdfast.chaos;

import dev.holdfast.it.ClockShim;
import dev.holdfast.testnodes.NodeSource;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.netcrusher.core.reactor.NioReactor;

/** The nodes of one run, each with the network before it, and with a watcher. */
final class World implements AutoCloseable {
  /** Bytes wait for so long in the proxies, at most. */
  private static final long TICK_MILLIS = 1;

  private final TestNodes nodes;
  private final Path folder;
  private final NioReactor reactor;
  private final List<NodeNetwork> proxies = new ArrayList<>();
  private final List<Sightings> sightings = new ArrayList<>();
  private final List<Thread> watchers = new ArrayList<>();

  World(int count, Path folder) throws IOException {
    this.folder = folder.resolve("nodes");
    this.nodes =
        TestNodes.builder()
            .count(count)
            .source(
                ClockShim.given().isPresent()
                    ? ClockShim.given().get().servers(folder.resolve("shim"))
                    : NodeSource.byDefault())
            .directory(this.folder)
            .start();
    this.reactor = new NioReactor(TICK_MILLIS);
    nodes.all().forEach(node -> proxies.add(new NodeNetwork(reactor, node)));
  }

  /** Writes down from now on which locks are on the nodes. */
  void watch(Journal journal) {
    for (TestNode node : nodes.all()) {
      Sightings ofNode = new Sightings(node, journal);
      Thread watcher = new Thread(ofNode, "watching " + node);
      sightings.add(ofNode);
      watchers.add(watcher);
      watcher.start();
    }
  }

  List<TestNode> nodes() {
    return nodes.all();
  }

  /** Returns the URIs by which clients see the nodes. */
  List<String> uris() {
    return proxies.stream().map(NodeNetwork::uri).toList();
  }

  Victim victim(int node, Random random) {
    return new Victim(nodes.node(node), proxies.get(node), ClockShim.ofNode(folder, node), random);
  }

  /** Has what was seen written down. */
  void endWatch() throws InterruptedException {
    sightings.forEach(Sightings::end);
    for (Thread watcher : watchers) {
      watcher.join();
    }
  }

  @Override
  public void close() {
    sightings.forEach(Sightings::end);
    proxies.forEach(NodeNetwork::close);
    reactor.close();
    nodes.close();
  }
}
