/** The restart guard: nodes that lost their data do not vote for a while. */
@NullMarked
package dev.holdfast.redlock.internal.guard;

import org.jspecify.annotations.NullMarked;
