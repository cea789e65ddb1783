package dev.holdfast.tck.broken;

import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Asks a node when the one before it has answered, or its time is over. */
final class OneAfterTheOther extends Members {
  OneAfterTheOther(List<Member> all, Scheduler network, Duration connectTimeout) {
    super(all, network, connectTimeout);
  }

  @Override
  CompletableFuture<Votes> ask(Poll poll) {
    return next(poll.nodes().iterator(), Votes.none(all().size(), poll.nodes().size()), poll);
  }

  private CompletableFuture<Votes> next(Iterator<Member> left, Votes votes, Poll poll) {
    if (!left.hasNext()) {
      return CompletableFuture.completedFuture(votes);
    }
    Member node = left.next();
    Timeouts ofOne = Timeouts.both(poll.limit().quorum());
    return super.ask(poll.to(List.of(node)).within(ofOne).until(one -> false))
        .thenCompose(
            one -> next(left, votes.with(node, one.replies().values().iterator().next()), poll));
  }
}
