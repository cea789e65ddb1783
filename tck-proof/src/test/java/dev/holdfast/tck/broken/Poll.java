package dev.holdfast.tck.broken;

import java.util.Collection;
import java.util.function.Predicate;

/**
 * A request to some nodes, and when their votes decide.
 *
 * @param nodes which are asked
 * @param limit after which nodes that are silent are counted as not answering
 * @param enough whether a decision cannot change any more
 * @param pending whether a node gets the request once more if it did not receive it
 */
record Poll(
    Collection<Member> nodes,
    Request request,
    Timeouts limit,
    Predicate<Votes> enough,
    Predicate<Member> pending) {
  Poll to(Collection<Member> others) {
    return new Poll(others, request, limit, enough, pending);
  }

  Poll within(Timeouts other) {
    return new Poll(nodes, request, other, enough, pending);
  }

  Poll until(Predicate<Votes> other) {
    return new Poll(nodes, request, limit, other, pending);
  }
}
