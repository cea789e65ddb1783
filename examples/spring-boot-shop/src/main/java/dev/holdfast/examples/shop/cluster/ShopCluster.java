package dev.holdfast.examples.shop.cluster;

import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/**
 * Instances of the shop with their database and three nodes, all on this machine and gone with this
 * process.
 */
final class ShopCluster {
  private static final int NODES = 3;
  private static final List<Integer> PORTS = List.of(8081, 8082, 8083);

  private final TestNodes nodes;
  private final ShopDatabase database;
  private final Path folder;
  private final List<ShopInstance> instances = new CopyOnWriteArrayList<>();

  private ShopCluster(TestNodes nodes, ShopDatabase database, Path folder) {
    this.nodes = nodes;
    this.database = database;
    this.folder = folder;
  }

  /** Starts three nodes and a database, without an instance. */
  static ShopCluster start() throws IOException, SQLException {
    Path folder = Files.createTempDirectory("holdfast-shop");
    return new ShopCluster(TestNodes.start(NODES), ShopDatabase.start(), folder);
  }

  /**
   * Runs three instances until this process is ended.
   *
   * @param args none
   */
  public static void main(String[] args) throws Exception {
    System.out.println("starting three redis-servers, a database and three instances …");
    ShopCluster cluster = start();
    CountDownLatch stopped = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(cluster::stopAtExit, "shop-end"));
    List<ShopInstance> started = new ArrayList<>();
    for (int i = 0; i < PORTS.size(); i++) {
      started.add(cluster.startInstance("shop-" + (i + 1), freeOr0(PORTS.get(i))));
    }
    for (ShopInstance instance : started) {
      System.out.println(instance.name() + "  " + cluster.awaitUrl(instance));
    }
    System.out.println("logs of the instances: " + cluster.folder);
    for (TestNode node : cluster.nodes.all()) {
      System.out.printf(
          "node %s: kill -STOP %d freezes it, kill -CONT %d goes on%n",
          node.address(), node.pid(), node.pid());
    }
    System.out.println("Open one of the pages. Ctrl-C ends all of it.");
    stopped.await();
  }

  /**
   * Starts an instance, and does not wait for it.
   *
   * @param port 0 for a free one
   * @param properties of Spring Boot, such as {@code shop.packing-time=1s}
   */
  ShopInstance startInstance(String name, int port, String... properties) throws IOException {
    List<String> all = new ArrayList<>();
    all.add("server.port=" + port);
    all.add("shop.instance=" + name);
    all.add("spring.datasource.url=" + database.url());
    for (TestNode node : nodes.all()) {
      all.add("holdfast.nodes[" + node.index() + "].host=" + node.host());
      all.add("holdfast.nodes[" + node.index() + "].port=" + node.port());
    }
    all.add("holdfast.options.newNodes=trust"); // the nodes are new and hold no locks
    all.addAll(List.of(properties));
    ShopInstance instance = ShopInstance.start(name, folder, all);
    instances.add(instance);
    return instance;
  }

  /** Waits until an instance has started, and returns the URL of its page. */
  String awaitUrl(ShopInstance instance) throws InterruptedException {
    return instance.awaitUrl(
        () -> database.query("select url from instances where name = ?", instance.name()));
  }

  TestNodes nodes() {
    return nodes;
  }

  ShopDatabase database() {
    return database;
  }

  /** Stops the instances, then the database and the nodes. */
  void stop() throws InterruptedException, SQLException, IOException {
    instances.forEach(ShopInstance::requestStop);
    for (ShopInstance instance : instances) {
      instance.awaitStopped();
    }
    database.close();
    nodes.close();
    for (ShopInstance instance : instances) {
      Files.deleteIfExists(folder.resolve(instance.name() + ".log"));
    }
    Files.deleteIfExists(folder);
  }

  private void stopAtExit() {
    try {
      stop();
    } catch (InterruptedException | SQLException | IOException e) {
      System.err.println("not all of the shop has ended: " + e);
    }
  }

  private static int freeOr0(int port) {
    try (ServerSocket socket = new ServerSocket(port)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      return 0;
    }
  }
}
