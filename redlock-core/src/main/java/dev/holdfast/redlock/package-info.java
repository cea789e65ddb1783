/**
 * Redlock. The heart is {@link dev.holdfast.redlock.RedlockPrimitive}: a request becomes a {@link
 * dev.holdfast.redlock.Round}, a round brings votes, a {@link dev.holdfast.redlock.Ballot} counts
 * them, and a quorum of them makes a grant.
 *
 * <p>For authors of drivers: implement {@link dev.holdfast.redlock.RedisNodes} and hand it to
 * {@link dev.holdfast.redlock.Redlock#open}.
 */
@NullMarked
package dev.holdfast.redlock;

import org.jspecify.annotations.NullMarked;
