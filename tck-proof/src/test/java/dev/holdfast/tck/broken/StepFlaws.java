package dev.holdfast.tck.broken;

import dev.holdfast.core.Clock;
import dev.holdfast.tck.broken.Request.Answer;
import dev.holdfast.tck.broken.Request.Verb;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Flaws that split one step into two, so that others can come between. */
final class StepFlaws {
  private static final Duration LONG = Duration.ofHours(1);

  private StepFlaws() {}

  static List<Flaw> all() {
    return List.of(
        inSteps(
            "each node looks whose lock it is, and deletes it then",
            Set.of("REL-1", "ACQ-4"),
            Verb.RELEASE,
            (keys, name, token, keep) -> {
              Answer seen = Request.compared(keys, name, token);
              if (seen != Answer.MINE || !keep.isZero()) {
                return Request.release(name, token, keep, false).work().apply(keys);
              }
              return second(
                  later -> {
                    later.remove(name);
                    return Answer.MINE;
                  });
            }),
        inSteps(
            "each node looks whose lock it is, and sets its time then",
            Set.of("REL-1"),
            Verb.KEEP,
            (keys, name, token, keep) -> {
              Answer seen = Request.compared(keys, name, token);
              if (seen != Answer.MINE) {
                return Request.release(name, token, keep, true).work().apply(keys);
              }
              return second(
                  later -> {
                    later.expire(name, keep);
                    return Answer.MINE;
                  });
            }),
        inSteps(
            "each node looks whose lock it is, and extends it then",
            Set.of("EXT-1", "EXT-3"),
            Verb.EXTEND,
            (keys, name, token, ttl) ->
                keys.holds(name, token) && keys.left(name).compareTo(ttl) < 0
                    ? second(
                        later -> {
                          later.expire(name, ttl);
                          return Answer.MINE;
                        })
                    : Request.extend(name, token, ttl).work().apply(keys)),
        inSteps(
            "each node sees that a lock is missing, and puts it back then",
            Set.of("EXT-1"),
            Verb.EXTEND,
            (keys, name, token, ttl) ->
                keys.contains(name)
                    ? Request.extend(name, token, ttl).work().apply(keys)
                    : second(
                        later -> {
                          later.put(name, token, ttl);
                          return Answer.MISSING;
                        })),
        inSteps(
            "each node sees that a lock has less time left, and sets the new time then",
            Set.of("EXT-3"),
            Verb.EXTEND,
            (keys, name, token, ttl) ->
                keys.holds(name, token) && keys.left(name).compareTo(ttl) < 0
                    ? second(
                        later -> {
                          if (later.holds(name, token)) {
                            later.expire(name, ttl);
                          }
                          return Request.compared(later, name, token);
                        })
                    : Request.extend(name, token, ttl).work().apply(keys)),
        Flaw.of(
            "each node looks what a failed attempt left, and deletes it then",
            Set.of("ACQ-4"),
            Parts.RIGHT
                .withPrimitives(TakesBack::new)
                .withConnections(
                    TwoSteps.of(
                        Verb.RELEASE,
                        (keys, name, marked, keep) -> {
                          String token = marked.replace(TakesBack.MARK, "");
                          return marked.startsWith(TakesBack.MARK) && keys.holds(name, token)
                              ? second(
                                  later -> {
                                    later.remove(name);
                                    return Answer.MINE;
                                  })
                              : Request.release(name, token, keep, false).work().apply(keys);
                        }))),
        inSteps(
            "each node takes a lock, and is told of its ttl then",
            Set.of("ACQ-10"),
            Verb.SET,
            (keys, name, token, ttl) -> {
              Object answer = Request.set(name, token, LONG).work().apply(keys);
              return answer == Answer.MINE
                  ? second(
                      later -> {
                        if (later.holds(name, token)) {
                          later.expire(name, ttl);
                        }
                        return Answer.MINE;
                      })
                  : answer;
            }),
        inSteps(
            "a forced release says what it saw, and deletes then",
            Set.of("INSP-2"),
            Verb.REMOVE,
            (keys, name, token, nothing) ->
                keys.token(name).isPresent()
                    ? second(
                        later -> {
                          later.remove(name);
                          return Answer.MINE;
                        })
                    : Request.remove(name).work().apply(keys)),
        inSteps(
                "a forced release takes a lock from whom it saw, and from nobody who came then",
                Set.of("INSP-2"),
                Verb.REMOVE,
                (keys, name, token, nothing) -> {
                  Optional<String> holder = keys.token(name);
                  return holder.isPresent()
                      ? second(
                          later -> {
                            if (later.token(name).equals(holder)) {
                              later.remove(name);
                            }
                            return Answer.MINE;
                          })
                      : Request.remove(name).work().apply(keys);
                })
            .asVariation(),
        inSteps(
                "a forced release frees all names that begin so",
                Set.of("INSP-2"),
                Verb.REMOVE,
                (keys, name, token, nothing) -> {
                  Object answer = Request.remove(name).work().apply(keys);
                  keys.names().stream()
                      .filter(other -> other.startsWith(name))
                      .forEach(keys::remove);
                  return answer;
                })
            .asVariation());
  }

  private static Flaw inSteps(String mistake, Set<String> rules, Verb verb, TwoSteps.First first) {
    return Flaw.inMember(mistake, rules, TwoSteps.of(verb, first));
  }

  private static TwoSteps.Second second(TwoSteps.Second step) {
    return step;
  }

  /** Marks the releases that take a failed attempt back. */
  private static final class TakesBack extends SmallRedlock {
    static final String MARK = "failed ";

    TakesBack(Members members, Clock clock, Timeouts timeouts) {
      super(members, clock, timeouts);
    }

    @Override
    Request taken(Held held) {
      return Request.of(
          Verb.RELEASE, held.name(), MARK + held.token() + " 0", super.taken(held).work());
    }
  }
}
