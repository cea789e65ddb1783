/**
 * The Redlock algorithm. {@code RedlockPrimitive} turns a request into a {@link
 * dev.holdfast.redlock.spi.Round}. The nodes of the round vote, a {@code QuorumCall} counts the
 * votes, and a quorum of them makes a grant.
 *
 * <p>Authors of drivers implement {@link dev.holdfast.redlock.spi.RedisNodes} and pass it to {@link
 * dev.holdfast.redlock.Redlock#open}.
 */
@NullMarked
package dev.holdfast.redlock;

import org.jspecify.annotations.NullMarked;
