/** The connections to the nodes: connecting, silence, unanswered commands, causes of failure. */
@NullMarked
package dev.holdfast.redlock.internal.nodes;

import org.jspecify.annotations.NullMarked;
