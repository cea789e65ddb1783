package dev.holdfast.redlock.internal.vote;

/** The vote of one node, by what its reply says of a key. */
public enum Vote {
  /** The key holds our token: a vote for. */
  MINE,
  /** The key holds another token: a vote against. */
  OTHER,
  /** The key is not there: a vote against. */
  MISSING,
  /** The key is no string, so it is no lock: a vote against. */
  WRONG_TYPE
}
