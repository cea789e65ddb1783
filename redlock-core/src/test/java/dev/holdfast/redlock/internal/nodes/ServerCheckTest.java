package dev.holdfast.redlock.internal.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testsupport.Rule;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The check of a server whose INFO cannot be read. */
class ServerCheckTest {
  private final List<String> log = new ArrayList<>();

  @Test
  @DisplayName("a user who may not read INFO may still lock")
  void infoIsOptional() {
    ServerCheck examination =
        new ServerCheck(found -> log.add("found " + found.isReplica()), cause -> log.add("failed"));
    examination.error(0, "NOPERM this user has no permissions to run the 'info' command");
    assertThat(log).containsExactly("found false");
  }

  @Test
  @Tag("exclusion")
  @Rule("OPEN-2")
  @DisplayName("a node that cannot be examined for another reason does not vote")
  void aNodeThatCannotBeExaminedDoesNotVote() {
    ServerCheck examination =
        new ServerCheck(found -> log.add("found"), cause -> log.add(cause.getMessage()));
    examination.error(0, "LOADING Redis is loading the dataset in memory");
    examination.failure(0, new IllegalStateException("connection reset"));
    assertThat(log).hasSize(2);
    assertThat(log.get(0)).startsWith("LOADING");
    assertThat(log.get(1)).isEqualTo("connection reset");
  }
}
