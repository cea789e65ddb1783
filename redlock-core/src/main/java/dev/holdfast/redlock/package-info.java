/**
 * Redlock. The heart is {@code RedlockPrimitive}: a request becomes a {@link
 * dev.holdfast.redlock.Round}, a round brings votes, a {@code Ballot} counts them, and a quorum of
 * them makes a grant.
 *
 * <p>For authors of drivers: implement {@link dev.holdfast.redlock.RedisNodes} and hand it to
 * {@link dev.holdfast.redlock.Redlock#open}.
 */
@NullMarked
package dev.holdfast.redlock;

import org.jspecify.annotations.NullMarked;
