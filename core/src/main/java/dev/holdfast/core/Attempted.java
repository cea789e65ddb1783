package dev.holdfast.core;

import dev.holdfast.LockException;

/** Why an attempt gave no lock, though another one may. */
sealed interface Attempted {
  /** Another owner holds it. */
  record Contended(int granted, int refused, int unanswered) implements Attempted {
    /** Behind others in the line, before anybody's attempt was over. */
    static final Contended UNTRIED = new Contended(0, 0, 0);
  }

  /** Nobody can say who holds it. */
  record Outage(LockException failure) implements Attempted {}
}
