package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Eventually;
import dev.holdfast.testsupport.Rule;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The facts about servers that the restart guard depends on: a server that becomes a master begins
 * another history.
 */
class HistoryTest {
  private static final Pattern HISTORY = Pattern.compile("master_replid:(\\w{40})\r");

  /** How a server becomes a master, perhaps with less than it had. */
  enum Becoming {
    BY_A_START,
    BY_A_START_WITH_ITS_DATA,
    BY_A_START_WITH_DATA_THAT_NAMES_ITS_HISTORY,
    BY_PROMOTION,
    AFTER_IT_WAS_A_REPLICA;

    /** Returns the histories that it had before. */
    String of(TestNode node, TestNode other) {
      String before = history(node);
      switch (this) {
        case BY_A_START -> node.restart();
        case BY_A_START_WITH_ITS_DATA -> {
          node.command("SAVE");
          node.restartWithData();
        }
        case BY_A_START_WITH_DATA_THAT_NAMES_ITS_HISTORY -> {
          Cluster.follow(other, node); // without replicas it is not saved
          before += history(node);
          // the process that saved for the replica may outlive the link's coming up
          Eventually.soon().ignoreExceptions().until(() -> "OK".equals(node.command("SAVE")));
          other.command("REPLICAOF", "NO", "ONE"); // or that it comes back begins another history
          node.restartWithData();
        }
        case BY_PROMOTION -> {
          Cluster.follow(node, other);
          before += history(node);
          node.command("REPLICAOF", "NO", "ONE");
        }
        case AFTER_IT_WAS_A_REPLICA -> {
          Cluster.follow(other, node);
          before += history(node);
          other.command("REPLICAOF", "NO", "ONE"); // it goes on with that history as its second
          Cluster.follow(node, other);
          before += history(node);
          node.command("REPLICAOF", "NO", "ONE");
        }
      }
      return before;
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("exclusion")
  @Rule("GUARD-1")
  void aNodeThatBecomesAMasterBeginsAnotherHistory(Becoming becoming) {
    try (TestNodes nodes = TestNodes.start(2)) {
      TestNode node = nodes.node(0);
      String before = becoming.of(node, nodes.node(1));

      assertThat(before).doesNotContain(history(node));
    }
  }

  private static String history(TestNode node) {
    Matcher found = HISTORY.matcher(String.valueOf(node.command("INFO", "replication")));
    assertThat(found.find()).isTrue();
    return found.group(1);
  }
}
