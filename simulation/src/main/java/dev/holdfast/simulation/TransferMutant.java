package dev.holdfast.simulation;

import static dev.holdfast.simulation.Flaw.edit;

import java.util.List;

/** The flaws in transfers and adoptions. */
enum TransferMutant implements Flaw {
  SWAP_WITHOUT_COMPARE(
      "an adoption replaces any token",
      Profile.TRANSFERS,
      Invariant.ADOPTED_ONCE,
      edit("redlock/internal/vote/Scripts", "if value == ARGV[5] then", "if value then"),
      edit("redlock/internal/vote/Scripts", "if value == ARGV[3] then", "if value then")),
  FREE_LOCK_IS_ADOPTED(
      "an adoption takes the lock where its key is missing",
      Profile.TRANSFERS,
      Invariant.ADOPTED_ONCE,
      edit(
          "redlock/internal/vote/Scripts",
          "if value == ARGV[5] then",
          "if not value or value == ARGV[5] then"),
      edit(
          "redlock/internal/vote/Scripts",
          "if value == ARGV[3] then",
          "if not value or value == ARGV[3] then")),
  ADOPTION_KEEPS_THE_TOKEN(
      "an adopter goes on with the transferred token",
      Profile.TRANSFERS,
      Invariant.ADOPTED_ONCE,
      edit(
          "redlock/internal/lock/RedlockPrimitive",
          "lockValues.next(attempt.ownerLabel()),\n                        adoption",
          "adoption.transferredToken(),\n                        adoption")),
  ADOPTION_FROM_REPLY(
      "the validity of an adoption is counted from the reply",
      Profile.TRANSFERS,
      Invariant.EXCLUSION,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "fence, validUntil,",
          "fence, transferred == null ? validUntil :"
              + " options.validity().until(options.clock().now(), attempt.ttl()),")),
  ADOPTION_FORGETS_THE_COUNTER(
      "a node gives an adoption the token that the client proposes, whatever it gave before",
      Profile.GUARDED_TRANSFERS,
      Invariant.FENCING,
      edit(
          "redlock/internal/vote/Scripts",
          "local code = 2\n"
              + "          local last = tonumber(redis.call('GET', KEYS[2]) or 0) or 0",
          "local code = 2\n          local last = 0")),
  QUARANTINED_VOTE_ADOPTS(
      "the vote of a node in quarantine counts for an adoption",
      Profile.GUARDED_TRANSFERS,
      Invariant.STRAGGLERS,
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "return tally.isGrantDecided();\n    }",
          """
          return tally.isGrantDecided();
              }

              @Override
              public boolean trustsQuarantined(int node) {
                return transferred != null;
              }\
          """),
      edit(
          "redlock/internal/lock/AcquireAttempt",
          "quarantineEnds.onQuarantine(node, quarantine);",
          "quarantineEnds.onQuarantine(node, quarantine);\n"
              + "      proposal.read(node, quarantine.code());")),
  TRANSFERRED_IS_STILL_HELD(
      "a lease is held until another process adopts it",
      Profile.TRANSFERS,
      Invariant.NO_REVIVAL,
      edit(
          "core/DefaultLease",
          "return lock.isHeld();",
          "return lock.isHeld() || lock.current() instanceof GrantState.Transferred;"));

  @SuppressWarnings("ImmutableEnumChecker") // its list is one of List.of
  private final Description description;

  TransferMutant(String about, Profile profile, Invariant breaks, Edit... edits) {
    this.description = new Description(about, profile, breaks, List.of(edits));
  }

  @Override
  public Description description() {
    return description;
  }
}
