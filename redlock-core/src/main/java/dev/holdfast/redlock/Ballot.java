package dev.holdfast.redlock;

import dev.holdfast.core.Scheduler;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts the votes of one round. Decided once, by the votes or by the deadline; what comes later
 * changes nothing. An error is a vote against, never more.
 *
 * <p>The deadline is the round's limit as long as a quorum of nodes may still answer. Once a quorum
 * has answered, or none can any more, only stragglers are missing: they have {@code nodeTimeout}
 * from the sending, or as long again as the quorum took, if that is longer.
 */
final class Ballot implements Round.Answers {

  /**
   * What a round asks and how its votes are read.
   *
   * @param command what nodes are asked
   * @param reader null for what is no vote
   * @param enough whether the votes decide
   * @param trusted whether the vote of a node counts although it is under quarantine
   * @param heard told of each answer, counted or not, but for those of a quarantine that do not
   *     count
   * @param alwaysFallBack whether the source is sent also after the decision
   * @param teaching where it is not, what tells the source and touches nothing; else a node that
   *     always answers last would never know it
   * @param whenFailed told of each node that gave no vote
   */
  record Question(
      Command command,
      BiFunction<Integer, @Nullable Object, @Nullable Answer> reader,
      Predicate<Tally> enough,
      IntPredicate trusted,
      BiConsumer<Integer, Answer> heard,
      boolean alwaysFallBack,
      @Nullable Supplier<Command> teaching,
      IntConsumer whenFailed) {

    static Question of(
        Command command,
        BiFunction<Integer, @Nullable Object, @Nullable Answer> reader,
        Predicate<Tally> enough) {
      return new Question(
          command, reader, enough, node -> false, (node, answer) -> {}, false, null, node -> {});
    }
  }

  private final Members members;
  private final Question question;
  private final boolean callerWaits;
  private final boolean mayBeVetoed;
  private final CompletableFuture<Tally> decision = new CompletableFuture<>();
  private final @Nullable Throwable[] failures;
  private Tally tally;
  private boolean decided;
  private boolean vetoed;
  private boolean missesStragglersOnly;
  private BiConsumer<Integer, Quarantine> quarantined = (node, quarantine) -> {};
  private volatile Scheduler.@Nullable Task deadline;
  private volatile long waitsNanos;

  /** The time of the sending, by the clock's nanoseconds; before it the time of construction. */
  private long sentAt;

  // written before anybody is asked
  private @Nullable Scheduler scheduler;
  private long limitNanos;

  Ballot(Members members, Question question, long asked, boolean callerWaits) {
    this.members = members;
    this.question = question;
    this.callerWaits = callerWaits;
    this.mayBeVetoed = Scripts.isAcquire(question.command()) || Scripts.isEnd(question.command());
    this.failures = new Throwable[members.size()];
    this.tally = new Tally(members.size(), 0, 0, 0, 0, 0, asked);
    this.sentAt = members.now();
  }

  /** One that asks all nodes. */
  static Ballot of(
      Members members,
      Command command,
      BiFunction<Integer, @Nullable Object, @Nullable Answer> reader,
      Predicate<Tally> enough,
      boolean callerWaits) {
    return new Ballot(members, Question.of(command, reader, enough), members.all(), callerWaits);
  }

  /**
   * Has somebody told of nodes that are under quarantine, also late; to be called before all else.
   */
  void whenQuarantined(BiConsumer<Integer, Quarantine> listener) {
    quarantined = listener;
  }

  /** Completes once, always normally. */
  CompletableFuture<Tally> decision() {
    return decision;
  }

  /** Whether a node said that this client must not go on. */
  synchronized boolean isVetoed() {
    return vetoed;
  }

  /** Why a node did not vote, for those that did not, or have not yet. */
  synchronized @Nullable Throwable failure(int node) {
    return !decided && (tally.pending() & 1L << node) != 0
        ? Members.silent(members.now() - sentAt)
        : failures[node];
  }

  /**
   * Sends the round. Nodes that are down vote before it is sent, so that a driver knows whom it
   * need not wait for; the decision is told after it, so that what follows a decision (a release,
   * say) reaches every node after this.
   *
   * @param limitNanos how long a quorum of answers is waited for
   * @return the nodes that it was sent to
   */
  long start(Scheduler scheduler, long limitNanos) {
    long asked = tally.pending();
    long reachable = members.reachable(asked);
    limit(scheduler, limitNanos);
    Tally counted = countUnreachable(asked & ~reachable);
    if (reachable != 0) {
      members.submit(new Round(question.command(), reachable, callerWaits, this));
    }
    after(counted);
    return reachable;
  }

  /** The round for whoever sends it by other ways than {@link #start}. */
  Round round(Scheduler scheduler, long limitNanos) {
    limit(scheduler, limitNanos);
    return new Round(question.command(), tally.pending(), false, this);
  }

  /** Decides it by the votes that are there, because its result interests no one any more. */
  void abandon() {
    Tally counted;
    synchronized (this) {
      counted = decided ? null : tally;
      decided = true;
    }
    after(counted);
  }

  /**
   * Whether no quorum of nodes has answered for so long that the nodes look down: where the last
   * quorum was far away, this one may be, too.
   */
  synchronized boolean isWithoutQuorum() {
    return !tally.hasQuorumOfAnswers()
        && members.now() - sentAt
            >= Math.max(members.nodeTimeoutNanos(), 2 * members.lastQuorumNanos());
  }

  /** The votes so far. */
  synchronized Tally tally() {
    return tally;
  }

  @Override
  public void reply(int node, @Nullable Object reply) {
    members.heardFrom(node);
    Answer answer = question.reader().apply(node, reply);
    if (answer == null) {
      failed(node, () -> NodeException.passing("a reply that is no vote: " + describe(reply)));
    } else {
      hasTerms(node, null);
      vote(node, answer);
    }
  }

  @Override
  public void error(int node, String error) {
    boolean asksAgain = error.startsWith("NOSCRIPT") && fallBack(node);
    members.heardFrom(node);
    if (asksAgain) {
      return;
    }
    String plain = ScriptError.unwrapped(error);
    Quarantine quarantine = Quarantine.in(plain);
    if (quarantine != null) {
      hasTerms(node, null);
      quarantined.accept(node, quarantine);
      if (question.trusted().test(node)) {
        vote(node, quarantine.vote());
      } else {
        failed(node, () -> NodeException.of(quarantine));
      }
    } else if (plain.startsWith("WRONGTYPE")) {
      vote(node, Answer.WRONG_TYPE);
    } else if (plain.startsWith(Guard.FOREIGN)) {
      NodeException veto = NodeException.reply(plain);
      hasTerms(node, veto);
      failed(node, () -> veto);
    } else {
      failed(node, () -> NodeException.reply(plain));
    }
  }

  /** Also after the decision, which other nodes may always make before this node is heard. */
  private void hasTerms(int node, @Nullable NodeException ofOthers) {
    if (mayBeVetoed) {
      members.heardTerms(node, ofOthers);
    }
  }

  @Override
  public void failure(int node, Throwable cause) {
    members.failedAt(node);
    failed(node, () -> NodeException.of(cause));
  }

  @Override
  public synchronized boolean decided() {
    return decided;
  }

  /**
   * Sends the source where a node does not know the script. Under the same monitor as the decision,
   * because what follows a decision (a release, say) must reach the node after this.
   */
  private synchronized boolean fallBack(int node) {
    if (!(question.command() instanceof Command.Eval eval)
        || eval.withSource()
        || members.reachable(1L << node) == 0) {
      return false;
    }
    if (decided && !question.alwaysFallBack()) {
      Supplier<Command> teaching = question.teaching();
      if (teaching != null) {
        members.submit(new Round(teaching.get(), 1L << node, false, new Unheard(members)));
      }
      return false;
    }
    Command source = new Command.Eval(eval.script(), true, eval.keys(), eval.arguments());
    members.submit(new Round(source, 1L << node, false, this));
    return true;
  }

  private @Nullable Tally countUnreachable(long nodes) {
    boolean veto = false;
    for (long left = nodes; left != 0; left &= left - 1) {
      int node = Long.numberOfTrailingZeros(left);
      NodeException cause = members.cause(node);
      failures[node] = cause;
      veto |= cause.isVeto();
      question.whenFailed().accept(node);
    }
    synchronized (this) {
      vetoed = veto && mayBeVetoed;
      return count(null, nodes);
    }
  }

  /** A connection that ends fails thousands at once, and of most of them nobody asks why. */
  private void failed(int node, Supplier<NodeException> why) {
    question.whenFailed().accept(node);
    Tally counted = null;
    synchronized (this) {
      if (!decided) {
        NodeException cause = why.get();
        failures[node] = cause;
        vetoed |= cause.isVeto() && mayBeVetoed;
        counted = count(null, 1L << node);
      }
    }
    after(counted);
  }

  private void vote(int node, Answer answer) {
    question.heard().accept(node, answer);
    Tally counted;
    synchronized (this) {
      counted = decided ? null : count(answer, 1L << node);
    }
    after(counted);
  }

  private void limit(Scheduler timers, long nanos) {
    scheduler = timers;
    synchronized (this) {
      sentAt = members.now();
    }
    limitNanos = nanos;
    waitFor(nanos);
  }

  /** Sets the deadline to so long after the sending. */
  private void waitFor(long nanos) {
    waitsNanos = nanos;
    long left = Math.max(0, nanos - (members.now() - sentAt));
    deadline = Objects.requireNonNull(scheduler).schedule(left, this::expire);
  }

  private void expire() {
    @Nullable Tally counted;
    long silent;
    synchronized (this) {
      if (decided) {
        return;
      }
      silent = tally.pending();
      for (int node = 0; node < failures.length; node++) {
        if ((silent & 1L << node) != 0) {
          failures[node] = Members.silent(waitsNanos);
        }
      }
      counted = count(null, silent);
    }
    try {
      members.expired(silent, sentAt + waitsNanos); // first, because what follows asks them again
    } finally {
      after(counted);
    }
  }

  /** Returns the tally if this vote decided the round. */
  private @Nullable Tally count(@Nullable Answer answer, long voters) {
    long votes = voters & tally.pending();
    boolean hadQuorum = tally.hasQuorumOfAnswers();
    tally =
        new Tally(
            tally.nodes(),
            tally.mine() | (answer == Answer.MINE ? votes : 0),
            tally.other() | (answer == Answer.OTHER ? votes : 0),
            tally.missing() | (answer == Answer.MISSING ? votes : 0),
            tally.wrongType() | (answer == Answer.WRONG_TYPE ? votes : 0),
            tally.failed() | (answer == null ? votes : 0),
            tally.pending() & ~votes);
    if (!hadQuorum && tally.hasQuorumOfAnswers()) {
      members.quorumAnsweredIn(members.now() - sentAt);
    }
    decided = vetoed || tally.isComplete() || question.enough().test(tally);
    return decided ? tally : null;
  }

  /** After a vote: decides the round, or waits for no more than stragglers. */
  private void after(@Nullable Tally counted) {
    if (counted != null) {
      cancelDeadline();
      decision.complete(counted);
    } else if (hasOnlyStragglersLeft()) {
      cancelDeadline();
      long took = members.now() - sentAt;
      waitFor(Math.min(limitNanos, Math.max(members.nodeTimeoutNanos(), 2 * took)));
      if (decided()) {
        cancelDeadline();
      }
    }
  }

  /** True once. */
  private synchronized boolean hasOnlyStragglersLeft() {
    boolean first = !missesStragglersOnly && !decided && tally.missesStragglersOnly();
    missesStragglersOnly |= first;
    return first;
  }

  private void cancelDeadline() {
    Scheduler.Task task = deadline;
    if (task != null) {
      task.cancel();
    }
  }

  private static String describe(@Nullable Object reply) {
    String text = String.valueOf(reply);
    return text.length() <= 80 ? text : text.substring(0, 80) + "…";
  }
}
