package dev.holdfast.redlock.spi;

import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** An immutable set of nodes, each given by its index from 0 to 63. */
public final class NodeSet {
  /** Sets of the first eight nodes are made once, so that rounds over them allocate none: 6 KB. */
  private static final NodeSet[] SHARED = new NodeSet[1 << 8];

  static {
    for (int bits = 0; bits < SHARED.length; bits++) {
      SHARED[bits] = new NodeSet(bits);
    }
  }

  /** The set without any node. */
  public static final NodeSet NONE = SHARED[0];

  /** Bit i is set if node i is in the set. */
  private final long bits;

  private NodeSet(long bits) {
    this.bits = bits;
  }

  /**
   * Returns the set of a single node.
   *
   * @param node its index, from 0 to 63
   * @return the set
   */
  public static NodeSet of(int node) {
    return ofBits(bit(node));
  }

  /**
   * Returns the set of some nodes.
   *
   * @param nodes their indexes, each from 0 to 63
   * @return the set
   */
  public static NodeSet of(int... nodes) {
    NodeSet set = NONE;
    for (int node : nodes) {
      set = set.with(node);
    }
    return set;
  }

  /**
   * Returns the set of the nodes 0 to {@code size} - 1.
   *
   * @param size their number, from 0 to 64
   * @return the set
   */
  public static NodeSet all(int size) {
    if (size < 0 || size > Long.SIZE) {
      throw new IllegalArgumentException(size + " nodes: a set has 0 to " + Long.SIZE);
    }
    return size == 0 ? NONE : ofBits(-1L >>> (Long.SIZE - size));
  }

  private static NodeSet ofBits(long bits) {
    return bits >= 0 && bits < SHARED.length ? SHARED[(int) bits] : new NodeSet(bits);
  }

  private static long bit(int node) {
    if (node < 0 || node >= Long.SIZE) {
      throw new IllegalArgumentException("a set has no room for node " + node);
    }
    return 1L << node;
  }

  private NodeSet changedTo(long changed) {
    return changed == bits ? this : ofBits(changed);
  }

  /**
   * Adds a node.
   *
   * @param node its index
   * @return this set with the node
   */
  public NodeSet with(int node) {
    return changedTo(bits | bit(node));
  }

  /**
   * Removes a node.
   *
   * @param node its index
   * @return this set without the node
   */
  public NodeSet without(int node) {
    return changedTo(bits & ~bit(node));
  }

  /**
   * Joins two sets.
   *
   * @param other the other set
   * @return the nodes of either
   */
  public NodeSet union(NodeSet other) {
    return changedTo(bits | other.bits);
  }

  /**
   * Intersects two sets.
   *
   * @param other the other set
   * @return the nodes of both
   */
  public NodeSet intersect(NodeSet other) {
    return changedTo(bits & other.bits);
  }

  /**
   * Subtracts another set.
   *
   * @param other the nodes to leave out
   * @return the nodes of this set that are not in the other
   */
  public NodeSet minus(NodeSet other) {
    return changedTo(bits & ~other.bits);
  }

  /**
   * Selects nodes.
   *
   * @param condition called with the index of each node, in ascending order
   * @return the nodes that meet the condition
   */
  public NodeSet filter(IntPredicate condition) {
    long found = 0;
    for (long left = bits; left != 0; left &= left - 1) {
      if (condition.test(Long.numberOfTrailingZeros(left))) {
        found |= Long.lowestOneBit(left);
      }
    }
    return changedTo(found);
  }

  /**
   * Tells whether a node is in the set.
   *
   * @param node its index
   * @return true if it is
   */
  public boolean contains(int node) {
    return (bits & bit(node)) != 0;
  }

  /**
   * Tells whether two sets have a node in common.
   *
   * @param other the other set
   * @return true if they have
   */
  public boolean intersects(NodeSet other) {
    return (bits & other.bits) != 0;
  }

  /**
   * Tells whether the set has no node.
   *
   * @return true if it has none
   */
  public boolean isEmpty() {
    return bits == 0;
  }

  /**
   * Counts the nodes.
   *
   * @return from 0 to 64
   */
  public int size() {
    return Long.bitCount(bits);
  }

  /**
   * Calls an action for each node, in ascending order of the indexes.
   *
   * @param action takes the index
   */
  public void forEach(IntConsumer action) {
    for (long left = bits; left != 0; left &= left - 1) {
      action.accept(Long.numberOfTrailingZeros(left));
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof NodeSet set && set.bits == bits;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(bits);
  }

  /** Returns the indexes, for example {@code {0, 2}}. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("{");
    forEach(node -> text.append(text.length() == 1 ? "" : ", ").append(node));
    return text.append('}').toString();
  }
}
