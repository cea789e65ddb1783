package dev.holdfast.tck.broken;

import java.util.function.Consumer;

/** The way from managers to a fake node. Used by the network's thread. */
interface Way {
  /** Returns the URI that managers get. */
  String uri();

  /** Returns the node that it leads to. */
  FakeNode node();

  /** Whether connections are accepted. */
  boolean isOpen();

  /** Asks for the kind of the node, as the first command on a connection. */
  void examine(Consumer<Examined> reply);

  /** Sends a request. The reply may come late or never. */
  void send(Request request, Member from, Consumer<Object> reply);

  /** Has a connection ended with the others. */
  void connected(Member member);

  /** Forgets a connection. */
  void disconnected(Member member);

  /**
   * A node's own description.
   *
   * @param identity the same by every way
   */
  record Examined(String identity, boolean isReplica, boolean evicts) {}
}
