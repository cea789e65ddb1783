/** A store that looks at fencing tokens, and what it is good for. */
@NullMarked
package dev.holdfast.examples.fenced;

import org.jspecify.annotations.NullMarked;
