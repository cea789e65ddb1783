package dev.holdfast.examples.shop.cluster;

import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Instances of the shop with their database and three nodes, all on this machine and gone with this
 * process. The output of the instances stays.
 */
final class ShopCluster implements AutoCloseable {
  private static final int NODES = 3;
  private static final int INSTANCES = 3;

  private final TestNodes nodes;
  private final ShopDatabase database;
  private final Path logs;
  private final List<ShopInstance> instances = new CopyOnWriteArrayList<>();

  private ShopCluster(TestNodes nodes, ShopDatabase database, Path logs) {
    this.nodes = nodes;
    this.database = database;
    this.logs = logs;
  }

  /**
   * Starts three nodes and a database, without an instance.
   *
   * @param logs the folder for the output of the instances, created if needed
   */
  static ShopCluster start(Path logs) throws IOException, SQLException {
    Files.createDirectories(logs);
    TestNodes nodes = TestNodes.start(NODES);
    try {
      return new ShopCluster(nodes, ShopDatabase.start(), logs);
    } catch (Throwable e) {
      try (nodes) { // closes them
        throw e;
      }
    }
  }

  /**
   * Runs three instances until this process or the last of them is ended.
   *
   * @param args the folder for the output of the instances, by default {@code target/shop-logs}
   */
  public static void main(String[] args) throws Exception {
    System.out.println("starting three redis-servers, a database and three instances …");
    ShopCluster cluster = start(Path.of(args.length == 0 ? "target/shop-logs" : args[0]));
    Runtime.getRuntime().addShutdownHook(new Thread(cluster::closeAtExit, "shop-end"));
    List<ShopInstance> started = new ArrayList<>();
    for (int i = 1; i <= INSTANCES; i++) {
      started.add(cluster.startInstance("shop-" + i));
    }
    for (ShopInstance instance : started) {
      System.out.printf(
          "%s  %s  (kill -KILL %d ends it as a crash would)%n",
          instance.name(), cluster.awaitUrl(instance), instance.pid());
    }
    System.out.println("logs of the instances: " + cluster.logs);
    for (TestNode node : cluster.nodes.all()) {
      System.out.printf(
          "node %s: kill -STOP %d freezes it, kill -CONT %d goes on%n",
          node.address(), node.pid(), node.pid());
    }
    System.out.println("Open one of the pages. Ctrl-C ends all of it.");
    for (ShopInstance instance : started) {
      instance.awaitEnd();
    }
    System.out.println("All instances have ended.");
  }

  /**
   * Starts an instance on a free port, and does not wait for it.
   *
   * @param properties of Spring Boot, such as {@code shop.packing-time=1s}
   */
  ShopInstance startInstance(String name, String... properties) throws IOException {
    List<String> all = new ArrayList<>();
    all.add("server.port=0");
    all.add("shop.instance=" + name);
    all.add("spring.datasource.url=" + database.url());
    for (TestNode node : nodes.all()) {
      all.add("holdfast.nodes[" + node.index() + "].host=" + node.host());
      all.add("holdfast.nodes[" + node.index() + "].port=" + node.port());
    }
    all.add("holdfast.options.newNodes=trust"); // the nodes are new and hold no locks
    all.addAll(List.of(properties));
    ShopInstance instance = ShopInstance.start(name, logs, all);
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

  /**
   * Stops the instances, then the database, then the nodes, each of them whatever happens to the
   * others.
   */
  @Override
  public void close() throws SQLException {
    try (nodes;
        database) {
      instances.forEach(ShopInstance::requestStop);
      instances.forEach(ShopInstance::awaitStopped);
    }
  }

  private void closeAtExit() {
    try {
      close();
    } catch (SQLException e) {
      System.err.println("not all of the shop has ended: " + e);
    }
  }
}
