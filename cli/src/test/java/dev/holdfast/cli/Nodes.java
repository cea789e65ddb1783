package dev.holdfast.cli;

import dev.holdfast.cli.backend.LocalNodes;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;

/** Actions of foreign clients on the nodes of a test. */
public final class Nodes {
  public static final String FOREIGN = "other:token";

  private Nodes() {}

  /** Patient, because a loaded machine that is slow to answer is none of a test's business. */
  public static String url(TestNodes nodes) {
    return url(nodes, "10s");
  }

  /** For nodes that cannot be reached. */
  public static String impatientUrl(TestNodes nodes) {
    return url(nodes, "300ms");
  }

  private static String url(TestNodes nodes, String connectTimeout) {
    return LocalNodes.url(nodes) + "?nodeTimeout=700ms&connectTimeout=" + connectTimeout;
  }

  /** Takes a lock as another language's client would. */
  public static void occupy(TestNodes nodes, String name) {
    nodes.all().forEach(node -> node.command("SET", name, FOREIGN, "PX", "60000"));
  }

  public static void remove(TestNodes nodes, String name) {
    nodes.all().forEach(node -> node.command("DEL", name));
  }

  /** Thaws the nodes that a test has frozen. */
  public static void thaw(TestNodes nodes) {
    nodes.all().stream()
        .filter(node -> node.state() == TestNode.State.FROZEN)
        .forEach(TestNode::thaw);
  }

  /** How many nodes hold this key. */
  public static long holding(TestNodes nodes, String name) {
    return nodes.all().stream()
        .filter(node -> node.state() == TestNode.State.UP)
        .filter(node -> node.command("GET", name) != null)
        .count();
  }
}
