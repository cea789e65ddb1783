package dev.holdfast.tck.broken;

import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockStatus;
import dev.holdfast.LossReason;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

/** Locks that are given back, by their holders or by force. */
final class ReleaseFlaws {
  private ReleaseFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inRedlock(
            "a release deletes without comparing",
            Set.of("REL-1"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Request release(Held held, Duration keep) {
                    Request right = super.release(held, keep);
                    return Request.of(
                        Request.Verb.RELEASE,
                        held.name(),
                        held.token() + " " + keep,
                        keys -> {
                          Object answer = right.work().apply(keys);
                          if (keep.isZero()) {
                            keys.remove(held.name());
                          }
                          return answer;
                        });
                  }
                }),
        Flaw.inRedlock(
            "a release goes to the nodes that granted",
            Set.of("REL-2"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Collection<Member> releaseFrom(Held held) {
                    return held.granted();
                  }
                }),
        Flaw.inLease(
            "a release is true whatever came of it",
            Set.of("REL-3"),
            right ->
                new PassingLease(right) {
                  @Override
                  public boolean release() {
                    super.release();
                    return true;
                  }

                  @Override
                  public CompletionStage<Boolean> releaseAsync() {
                    return super.releaseAsync().thenApply(held -> true);
                  }
                }),
        Flaw.inRedlock(
            "a release that nobody answers has gone well",
            Set.of("REL-4"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Optional<LossReason> released(Held held, Votes votes) {
                    return isAnswered(votes) ? super.released(held, votes) : Optional.empty();
                  }
                }),
        Flaw.inLease(
            "the second release is false",
            Set.of("REL-5"),
            right ->
                new PassingLease(right) {
                  private final AtomicBoolean released = new AtomicBoolean();

                  @Override
                  public boolean release() {
                    return !released.getAndSet(true) && super.release();
                  }
                }),
        Flaw.inMember(
            "what could not be released is forgotten",
            Set.of("REL-6"),
            (uri, way, network) ->
                new Member(uri, way, network) {
                  @Override
                  void owe(Request request) {}
                }),
        Flaw.inLease(
            "closing a lease that was lost throws",
            Set.of("REL-7"),
            right ->
                new PassingLease(right) {
                  @Override
                  public void close() {
                    if (!release()) {
                      throw new LockLostException(name(), LossReason.EXPIRED);
                    }
                  }
                }),
        Flaw.inLease(
                "closing a lease that was lost is not worth a warning",
                Set.of("REL-7"),
                right ->
                    new PassingLease(right) {
                      @Override
                      public void close() {
                        try {
                          release();
                        } catch (LockException silent) {
                          // which is the mistake
                        }
                      }
                    })
            .asVariation(),
        Flaw.inRedlock(
            "a release lets the lock expire soon",
            Set.of("REL-8"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Request release(Held held, Duration keep) {
                    Duration soon = Duration.ofMillis(100);
                    return super.release(held, keep.compareTo(soon) < 0 ? soon : keep);
                  }
                }),
        Flaw.inRedlock(
            "holdAtLeast is not heeded",
            Set.of("ACQ-11"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  Request release(Held held, Duration keep) {
                    return super.release(held, Duration.ZERO);
                  }
                }),
        Flaw.inRedlock(
            "there was always something to release by force",
            Set.of("INSP-2"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  public CompletionStage<Boolean> forceRelease(String name) {
                    return super.forceRelease(name).thenApply(there -> true);
                  }
                }),
        Flaw.inRedlock(
            "inspect shows the token for a label",
            Set.of("INSP-1"),
            (members, clock, timeout) ->
                new SmallRedlock(members, clock, timeout) {
                  @Override
                  String label(String token) {
                    return token;
                  }
                }),
        Flaw.inRedlock(
                "inspect counts the nodes that answer",
                Set.of("INSP-1"),
                (members, clock, timeout) ->
                    new SmallRedlock(members, clock, timeout) {
                      @Override
                      public CompletionStage<Optional<LockStatus>> inspect(String name) {
                        return super.inspect(name)
                            .thenApply(
                                found ->
                                    found.map(
                                        s ->
                                            new LockStatus(
                                                name,
                                                s.owner(),
                                                s.remaining(),
                                                s.agreeing(),
                                                s.agreeing())));
                      }
                    })
            .asVariation());
  }
}
