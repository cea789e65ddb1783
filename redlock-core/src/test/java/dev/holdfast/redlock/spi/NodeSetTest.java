package dev.holdfast.redlock.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeSetTest {
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 5, 7, 8, 9, 31, 62, 63, 64})
  @DisplayName("all nodes are those below the size")
  void allNodesAreThoseBelowTheSize(int size) {
    NodeSet all = NodeSet.all(size);
    assertThat(all.size()).isEqualTo(size);
    assertThat(all.isEmpty()).isEqualTo(size == 0);
    for (int node = 0; node < 64; node++) {
      assertThat(all.contains(node)).isEqualTo(node < size);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 65})
  @DisplayName("a size beyond 0 to 64 is refused")
  void sizeOutOfRangeIsRefused(int size) {
    assertThatThrownBy(() -> NodeSet.all(size)).isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 64, Integer.MIN_VALUE, Integer.MAX_VALUE})
  @DisplayName("an index beyond 0 to 63 is refused")
  void indexOutOfRangeIsRefused(int node) {
    assertThatThrownBy(() -> NodeSet.of(node)).hasMessageContaining(Integer.toString(node));
    assertThatThrownBy(() -> NodeSet.NONE.with(node)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> NodeSet.NONE.without(node))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> NodeSet.NONE.contains(node))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 7, 8, 31, 63})
  @DisplayName("a node is added and removed")
  void nodeIsAddedAndRemoved(int node) {
    NodeSet one = NodeSet.NONE.with(node);
    assertThat(one).isEqualTo(NodeSet.of(node)).isNotEqualTo(NodeSet.NONE);
    assertThat(one.contains(node)).isTrue();
    assertThat(one.size()).isEqualTo(1);
    assertThat(one.without(node)).isEqualTo(NodeSet.NONE);
    assertThat(one.without((node + 1) % 64)).isSameAs(one);
    assertThat(one.with(node)).isSameAs(one);
  }

  @Test
  @DisplayName("union, intersection and difference")
  void setsAreCombined() {
    NodeSet some = NodeSet.of(0, 2, 63);
    NodeSet others = NodeSet.of(2, 40);
    assertThat(some.union(others)).isEqualTo(NodeSet.of(0, 2, 40, 63));
    assertThat(some.intersect(others)).isEqualTo(NodeSet.of(2));
    assertThat(some.minus(others)).isEqualTo(NodeSet.of(0, 63));
    assertThat(some.intersects(others)).isTrue();
    assertThat(some.intersects(NodeSet.of(1, 41))).isFalse();
    assertThat(NodeSet.NONE.intersects(some)).isFalse();
  }

  @Test
  @DisplayName("an operation that changes nothing returns the same set")
  void unchangedSetsAreReused() {
    NodeSet large = NodeSet.of(3, 63);
    assertThat(large.union(NodeSet.of(3))).isSameAs(large);
    assertThat(large.intersect(NodeSet.all(64))).isSameAs(large);
    assertThat(large.minus(NodeSet.of(4))).isSameAs(large);
    assertThat(large.filter(node -> true)).isSameAs(large);
  }

  @Test
  @DisplayName("sets of up to eight nodes are shared")
  void smallSetsAreShared() {
    assertThat(NodeSet.of(0, 7)).isSameAs(NodeSet.of(7).with(0));
    assertThat(NodeSet.all(8)).isSameAs(NodeSet.all(9).without(8));
    assertThat(NodeSet.of(8)).isNotSameAs(NodeSet.of(8)).isEqualTo(NodeSet.of(8));
  }

  @Test
  @DisplayName("nodes are visited in ascending order")
  void nodesAreVisitedInOrder() {
    List<Integer> visited = new ArrayList<>();
    NodeSet.of(63, 5, 0, 33).forEach(visited::add);
    assertThat(visited).containsExactly(0, 5, 33, 63);
    visited.clear();
    NodeSet odd =
        NodeSet.of(5, 4, 63)
            .filter(
                node -> {
                  visited.add(node);
                  return node % 2 == 1;
                });
    assertThat(visited).containsExactly(4, 5, 63);
    assertThat(odd).isEqualTo(NodeSet.of(5, 63));
    assertThat(odd.filter(node -> false)).isSameAs(NodeSet.NONE);
  }

  @Test
  @DisplayName("sets of the same nodes are equal")
  void setsOfTheSameNodesAreEqual() {
    assertThat(NodeSet.of(9, 40)).isEqualTo(NodeSet.of(40, 9)).hasSameHashCodeAs(NodeSet.of(40, 9));
    assertThat(NodeSet.of(9)).isNotEqualTo(NodeSet.of(10)).isNotEqualTo("{9}");
    assertThat(NodeSet.of(9).hashCode()).isNotEqualTo(NodeSet.of(10).hashCode());
  }

  @Test
  @DisplayName("the text lists the indexes")
  void textListsTheIndexes() {
    assertThat(NodeSet.NONE).hasToString("{}");
    assertThat(NodeSet.of(0, 2, 63)).hasToString("{0, 2, 63}");
  }
}
