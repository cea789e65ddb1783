package dev.holdfast.tck.broken;

import dev.holdfast.core.Scheduler;
import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/** Asks a node when the one before it has answered, or its time is over. */
final class OneAfterTheOther extends Members {
  OneAfterTheOther(List<Member> all, Scheduler network, Duration connectTimeout) {
    super(all, network, connectTimeout);
  }

  @Override
  CompletableFuture<Votes> ask(
      Collection<Member> nodes,
      Request request,
      Timeouts limit,
      Predicate<Votes> enough,
      Predicate<Member> pending) {
    return next(
        nodes.iterator(), Votes.none(all().size(), nodes.size()), request, limit, enough, pending);
  }

  private CompletableFuture<Votes> next(
      Iterator<Member> left,
      Votes votes,
      Request request,
      Timeouts limit,
      Predicate<Votes> enough,
      Predicate<Member> pending) {
    if (!left.hasNext()) {
      return CompletableFuture.completedFuture(votes);
    }
    Member node = left.next();
    Timeouts ofOne = Timeouts.both(limit.quorum());
    return super.ask(List.of(node), request, ofOne, one -> false, pending)
        .thenCompose(
            one ->
                next(
                    left,
                    votes.with(node, one.replies().values().iterator().next()),
                    request,
                    limit,
                    enough,
                    pending));
  }
}
