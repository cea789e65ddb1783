package dev.holdfast.redlock;

/** What one node's reply says of a key. */
enum Answer {
  /** It holds our token: a vote for. */
  MINE,
  /** It holds another: a vote against. */
  OTHER,
  /** It is not there: a vote against. */
  MISSING,
  /** It is no string, so no lock of anybody's: a vote against. */
  WRONG_TYPE
}
