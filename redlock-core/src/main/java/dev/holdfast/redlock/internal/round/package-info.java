/** A round to the nodes of a quorum, and the policy that decides it. */
@NullMarked
package dev.holdfast.redlock.internal.round;

import org.jspecify.annotations.NullMarked;
