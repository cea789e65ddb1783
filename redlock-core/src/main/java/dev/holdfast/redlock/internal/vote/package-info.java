/** Votes and their tally, and the scripts whose replies are votes. */
@NullMarked
package dev.holdfast.redlock.internal.vote;

import org.jspecify.annotations.NullMarked;
