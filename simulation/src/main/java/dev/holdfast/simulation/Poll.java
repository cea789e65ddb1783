package dev.holdfast.simulation;

import dev.holdfast.redlock.spi.Command;
import dev.holdfast.redlock.spi.Round;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One round as the driver sees it. Only votes that count are votes: an error, a quarantine or an
 * acknowledgement of a node that did not grant is none. A vote that may count or not, because only
 * the core knows, is doubtful.
 */
final class Poll {
  private static final Map<String, Kind> KINDS = new ConcurrentHashMap<>();

  final Kind kind;
  final String key;
  final String token;
  final Host host;
  final long ttlMillis;
  final Round round;

  /** The time of sending by the client's clock, which does not count sleep. */
  final long sentAt;

  private final long sentAtWall;
  private final long wallSetBefore;

  /** The attempt whose fencing token this one stores. */
  private final @Nullable Poll attempt;

  private final int nodes;
  private long mine;
  private long other;
  private long missing;
  private long doubtful;
  private long failed;
  private long granted;
  private long inQuarantine;
  private long unasked;
  private boolean straggling;
  private boolean sentInParts;
  private boolean hadQuorum;

  /** The certainty of a fact, as the driver sees it. */
  enum Sureness {
    YES,
    PERHAPS,
    NO
  }

  /** The purpose of a round. */
  enum Kind {
    ATTEMPT,
    ADOPTION,
    STORE,
    EXTENSION,
    RELEASE,
    NONE
  }

  Poll(Host host, Round round, @Nullable Poll attempt, int nodes) {
    this.host = host;
    this.round = round;
    this.attempt = attempt;
    this.kind = kindOf(round.command());
    this.key = keyOf(round.command());
    this.token = tokenOf(round.command());
    this.ttlMillis = kind == Kind.RELEASE ? 0 : ttlOf(round.command());
    this.sentAt = host.clock.nanos();
    this.sentAtWall = host.clock.wallMicros();
    this.wallSetBefore = host.clock.wallSetAt();
    this.nodes = nodes;
    for (int node = 0; node < nodes; node++) {
      unasked |= round.asks(node) ? 0 : 1L << node;
    }
  }

  static Kind kindOf(Command command) {
    if (command instanceof Command.SetIfAbsent) {
      return Kind.ATTEMPT;
    }
    if (!(command instanceof Command.Eval eval)
        || eval.keys().isEmpty()
        || !Workload.isLock(eval.keys().get(0))) {
      return Kind.NONE;
    }
    return KINDS.computeIfAbsent(eval.script().sha1(), sha -> kindOf(eval.script().source()));
  }

  private static Kind kindOf(String source) {
    if (source.contains("'PUBLISH'") || source.contains("local longer")) {
      return Kind.RELEASE;
    }
    if (source.contains("'PEXPIRE'")) {
      return Kind.EXTENSION;
    }
    if (source.contains("'NX'")) {
      return Kind.ATTEMPT;
    }
    return source.contains("'SET', KEYS[1], ARGV[1]") ? Kind.ADOPTION : Kind.STORE;
  }

  /** Returns whether it is the first round by which a lease may be granted. */
  static boolean isFirst(Kind kind) {
    return kind == Kind.ATTEMPT || kind == Kind.ADOPTION;
  }

  /** Returns whether a node has voted that the key holds the token. */
  boolean isMine(int node) {
    return (mine & 1L << node) != 0;
  }

  static String keyOf(Command command) {
    return command instanceof Command.Eval eval
        ? eval.keys().get(0)
        : ((Command.SetIfAbsent) command).key();
  }

  static String tokenOf(Command command) {
    return command instanceof Command.Eval eval
        ? eval.arguments().get(0)
        : ((Command.SetIfAbsent) command).value();
  }

  private static long ttlOf(Command command) {
    return command instanceof Command.Eval eval
        ? Long.parseLong(eval.arguments().get(1))
        : ((Command.SetIfAbsent) command).ttlMillis();
  }

  /**
   * Notes that more of the same round is sent: its source, or commands to a node that was
   * connecting.
   */
  void sendsMore(Round more) {
    long unaskedBefore = unasked;
    for (long left = unasked; left != 0; left &= left - 1) {
      unasked &= more.asks(Long.numberOfTrailingZeros(left)) ? ~Long.lowestOneBit(left) : -1;
    }
    sentInParts |= unasked != unaskedBefore;
  }

  /** Returns whether some node was asked later, because it was being connected. */
  boolean isSentInParts() {
    return sentInParts;
  }

  /** Notes a reply, which the core has not read yet. */
  void reply(int node, @Nullable Object reply) {
    long bit = 1L << node;
    if (reply instanceof RedisError error) {
      boolean quarantined = error.text().contains("QUARANTINE ");
      if (quarantined) {
        inQuarantine |= bit;
        doubtful |= bit; // it counts if the node has had the key all the time, or if this ends it
      }
      if (!error.text().contains("NOSCRIPT") && !(quarantined && kind == Kind.EXTENSION)) {
        failed(node);
      }
      return;
    }
    long code =
        reply instanceof Long number ? number : "OK".equals(reply) ? 1 : reply == null ? 0 : -1;
    boolean isMissing = kind != Kind.ATTEMPT && code == 2;
    granted |= isFirst(kind) && code > 0 && !isMissing ? bit : 0;
    if (round.isDecided()) {
      return;
    }
    if (kind == Kind.STORE && code == 1 && attempt != null && !attempt.hasGranted(node)) {
      doubtful |= attempt.inQuarantine & bit; // that attempt may have ended its quarantine
      failed |= ~attempt.inQuarantine & bit;
    } else if (code == 0) {
      other |= bit;
    } else if (isMissing) {
      missing |= bit;
    } else {
      mine |= bit;
    }
  }

  /** Notes that a node gives no answer. */
  void failed(int node) {
    if (!round.isDecided()) {
      failed |= 1L << node;
    }
  }

  /** Returns the number of nodes to which a part of the round was sent. */
  int asked() {
    return nodes - Long.bitCount(unasked);
  }

  private boolean hasGranted(int node) {
    return (granted & 1L << node) != 0;
  }

  /** Returns whether a node reported another token. */
  boolean sawAnother() {
    return other != 0;
  }

  boolean isDoubtful() {
    return doubtful != 0;
  }

  int mostGrants() {
    return Long.bitCount(mine | doubtful);
  }

  int denials() {
    return Long.bitCount(other | missing);
  }

  int mostDenials() {
    return Long.bitCount(other | missing | doubtful);
  }

  int answers() {
    return Long.bitCount(mine | other | missing);
  }

  int mostAnswers() {
    return Long.bitCount(mine | other | missing | doubtful);
  }

  /**
   * Returns whether the last vote completes a quorum of answers. The answer is {@code YES} once at
   * most.
   */
  Sureness bringsTheQuorum(int quorum) {
    if (hadQuorum || mostAnswers() < quorum) {
      return Sureness.NO;
    }
    hadQuorum = answers() >= quorum;
    return hadQuorum && doubtful == 0 ? Sureness.YES : Sureness.PERHAPS;
  }

  /** Returns the number of nodes that certainly gave no vote. */
  int failures() {
    return Long.bitCount(failed);
  }

  /** Returns the number of nodes that may have given no vote, or were not asked. */
  int mostFailures() {
    return Long.bitCount(failed | doubtful | unasked);
  }

  /** Returns how long this has been in flight, by the clock of the client that shows more. */
  long ageMicros() {
    return Math.max(ageNanos() / 1_000, host.clock.wallMicros() - sentAtWall);
  }

  /**
   * Returns whether the client's wall clock was set since. Set back, it shows no longer how late it
   * seemed to be.
   */
  boolean isWallSet() {
    return host.clock.wallSetAt() != wallSetBefore;
  }

  /** Returns how long this has been in flight, by the clock that does not count sleep. */
  long ageNanos() {
    return host.clock.nanos() - sentAt;
  }

  /**
   * Returns true once, when from now on only stragglers are missing and the votes do not decide
   * yet.
   */
  boolean beginsToStraggle(int quorum, int nodes) {
    boolean begins =
        !straggling && !round.isDecided() && (answers() >= quorum || failures() > nodes - quorum);
    straggling |= begins;
    return begins;
  }
}
