package dev.holdfast.tck.broken;

import dev.holdfast.tck.broken.NodeError.Kind;
import dev.holdfast.tck.broken.Request.Answer;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The answers of the nodes at one time. Immutable.
 *
 * @param nodes how many there are, asked or not
 * @param asked how many were asked
 * @param replies answers and errors, by node
 */
record Votes(int nodes, int asked, Map<Member, Object> replies) {
  static Votes none(int nodes, int asked) {
    return new Votes(nodes, asked, Map.of());
  }

  Votes with(Member node, Object reply) {
    Map<Member, Object> more = new LinkedHashMap<>(replies);
    more.put(node, reply);
    return new Votes(nodes, asked, Collections.unmodifiableMap(more));
  }

  int quorum() {
    return nodes / 2 + 1;
  }

  int mine() {
    return count(Answer.MINE);
  }

  int notMine() {
    return answered() - mine();
  }

  int count(Object reply) {
    return (int) replies.values().stream().filter(reply::equals).count();
  }

  List<Member> saying(Answer answer) {
    return replies.entrySet().stream()
        .filter(vote -> vote.getValue() == answer)
        .map(Map.Entry::getKey)
        .toList();
  }

  /** Returns the nodes that have not answered. */
  List<Member> silent(List<Member> of) {
    return of.stream()
        .filter(
            node ->
                !replies.containsKey(node)
                    || (replies.get(node) instanceof NodeError e && e.kind() == Kind.SILENT))
        .toList();
  }

  int answered() {
    return (int) replies.values().stream().filter(r -> !(r instanceof NodeError)).count();
  }

  int pending() {
    return asked - replies.size();
  }

  /** Whether a quorum has answered, or none can any more. */
  boolean missesLastOnly() {
    return isQuorum(answered()) || !isQuorum(answered() + pending());
  }

  boolean isComplete() {
    return pending() == 0;
  }

  boolean isQuorum(int votes) {
    return votes >= quorum();
  }

  /** Errors by the node's name. */
  Map<String, NodeError> failures() {
    Map<String, NodeError> failures = new LinkedHashMap<>();
    replies.forEach(
        (node, reply) -> {
          if (reply instanceof NodeError error) {
            failures.put(node.name(), error);
          }
        });
    return failures;
  }

  /** How many errors there are of a kind. */
  int failed(Kind kind) {
    return (int) failures().values().stream().filter(e -> e.kind() == kind).count();
  }

  /** Returns the nodes that may have carried out the request. */
  List<Member> reached(List<Member> of) {
    return of.stream()
        .filter(m -> !(replies.get(m) instanceof NodeError e && e.kind() == Kind.UNSENT))
        .toList();
  }
}
