package dev.holdfast.tck.broken;

import dev.holdfast.tck.broken.NodeError.Kind;
import dev.holdfast.tck.broken.Way.Examined;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/** Connections: how they begin, end, and begin again. */
final class OpeningFlaws {
  private static final long LONG = TimeUnit.MINUTES.toNanos(1);

  private OpeningFlaws() {}

  static List<Flaw> all() {
    return List.of(
        Flaw.inMembers(
            "no node may be down at the start",
            Set.of("OPEN-1"),
            (all, network, connectTimeout) ->
                new Members(all, network, connectTimeout) {
                  @Override
                  boolean isEnough(long up) {
                    return up == all.size();
                  }
                }),
        Flaw.inMembers(
                "all nodes may be down at the start",
                Set.of("OPEN-1"),
                (all, network, connectTimeout) ->
                    new Members(all, network, connectTimeout) {
                      @Override
                      boolean isEnough(long up) {
                        return true;
                      }
                    })
            .asVariation(),
        inExamination(
            "one server may be listed twice",
            Set.of("OPEN-2"),
            (member, found) ->
                new Examined(found.identity() + member.name(), found.isReplica(), found.evicts())),
        inExamination(
                "a replica may vote",
                Set.of("OPEN-2"),
                (member, found) -> new Examined(found.identity(), false, found.evicts()))
            .asVariation(),
        inExamination(
            "nobody is warned of nodes that evict",
            Set.of("OPEN-3"),
            (member, found) -> new Examined(found.identity(), found.isReplica(), false)),
        Flaw.inRedlock(
            "connect=lazy connects at once",
            Set.of("OPEN-4"),
            (members, clock, timeout) -> {
              members.open();
              return new SmallRedlock(members, clock, timeout);
            }),
        Flaw.inMember(
                "each node is tried when a manager is made, and connected to when it is asked",
                Set.of("OPEN-4"),
                (uri, way, network) -> {
                  Member member = new Member(uri, way, network);
                  way.connected(member);
                  way.disconnected(member);
                  return member;
                })
            .asVariation(),
        Flaw.inMembers(
                "a manager that never connected gives a share in the connections back",
                Set.of("CLOSE-4"),
                SharedMembers::new)
            .asVariation(),
        Flaw.inMember(
            "a connection that ended is not made again",
            Set.of("FAULT-3", "FAULT-5"),
            (uri, way, network) ->
                new Member(uri, way, network) {
                  private boolean wasUp;

                  @Override
                  void connect() {
                    if (!wasUp) {
                      super.connect();
                      wasUp = isUp();
                    }
                  }
                }),
        Flaw.inMember(
                "the thread of a connection that ended stays",
                Set.of("CLOSE-4"),
                (uri, way, network) ->
                    new Member(uri, way, network) {
                      private boolean wasUp;

                      @Override
                      void connect() {
                        if (wasUp) {
                          Thread left = new Thread(() -> LockSupport.parkNanos(LONG), "left");
                          left.setDaemon(true);
                          left.start();
                        }
                        super.connect();
                        wasUp |= isUp();
                      }
                    })
            .asVariation(),
        Flaw.inMember(
                "the thread of a connection that never came about stays",
                Set.of("CLOSE-4"),
                (uri, way, network) ->
                    new Member(uri, way, network) {
                      private final Thread thread =
                          new Thread(() -> LockSupport.parkNanos(LONG), "of " + uri);

                      @Override
                      void open(Function<Examined, String> examiner, Runnable settled) {
                        thread.setDaemon(true);
                        thread.start();
                        super.open(examiner, settled);
                      }

                      @Override
                      void close() {
                        if (isUp()) {
                          LockSupport.unpark(thread);
                        }
                        super.close();
                      }
                    })
            .asVariation(),
        Flaw.inMembers(
                "the connections stay if there were too few of them",
                Set.of("CLOSE-4"),
                (all, network, connectTimeout) ->
                    new Members(all, network, connectTimeout) {
                      @Override
                      void close() {
                        network.schedule(
                            0,
                            () -> {
                              if (isEnough(all.stream().filter(Member::isUp).count())) {
                                all.forEach(Member::close);
                              }
                            });
                      }
                    })
            .asVariation(),
        Flaw.inMember(
            "what was not answered is sent again on the next connection",
            Set.of("FAULT-4"),
            (uri, way, network) ->
                new Member(uri, way, network) {
                  @Override
                  void toUnanswered(Request request, Consumer<Object> answer) {
                    super.toUnanswered(request, answer);
                    defer(request);
                  }
                }),
        Flaw.inMember(
                "a script that a node forgot is not sent again",
                Set.of("FAULT-5"),
                (uri, way, network) ->
                    new Member(uri, way, network) {
                      @Override
                      void toUnknown(Request request, Consumer<Object> answer) {
                        answer.accept(new NodeError(Kind.PASSING, "it does not know the script"));
                      }
                    })
            .asVariation(),
        Flaw.inMember(
            "errors name a node by all that stands in its URI",
            Set.of("ERR-3"),
            (uri, way, network) ->
                new Member(uri, way, network) {
                  @Override
                  String name() {
                    return uri.replaceFirst(".*//", "");
                  }
                }),
        Flaw.inMembers(
                "a closed manager waits in a thread of its own for nodes that hang",
                Set.of("CLOSE-4"),
                (all, network, connectTimeout) ->
                    new Members(all, network, connectTimeout) {
                      @Override
                      void close() {
                        CompletableFuture<Void> answered = new CompletableFuture<>();
                        network.schedule(
                            0,
                            () -> {
                              if (all.stream().allMatch(Member::isSettled)) {
                                answered.complete(null);
                              }
                            });
                        super.close();
                        answered.completeOnTimeout(null, LONG, TimeUnit.NANOSECONDS);
                        Thread waits = new Thread(answered::join);
                        waits.setDaemon(true);
                        waits.start();
                      }
                    })
            .asVariation(),
        Flaw.inMembers(
                "a connection to a node that hangs stays open when the manager is closed",
                Set.of("CLOSE-4"),
                (all, network, connectTimeout) ->
                    new Members(all, network, connectTimeout) {
                      @Override
                      void close() {
                        network.schedule(
                            0, () -> all.stream().filter(Member::isSettled).forEach(Member::close));
                      }
                    })
            .asVariation(),
        Flaw.inMembers(
                "one connection stays open when the manager is closed",
                Set.of("CLOSE-4"),
                (all, network, connectTimeout) ->
                    new Members(all, network, connectTimeout) {
                      @Override
                      void close() {
                        network.schedule(0, () -> all.stream().skip(1).forEach(Member::close));
                      }
                    })
            .asVariation());
  }

  /** Puts a mistake into what is seen of a node when it is examined. */
  private static Flaw inExamination(
      String mistake, Set<String> rules, BiFunction<Member, Examined, Examined> seen) {
    return Flaw.inMembers(
        mistake,
        rules,
        (all, network, connectTimeout) ->
            new Members(all, network, connectTimeout) {
              @Override
              String wrongWith(Member member, Examined found) {
                return super.wrongWith(member, seen.apply(member, found));
              }
            });
  }
}
