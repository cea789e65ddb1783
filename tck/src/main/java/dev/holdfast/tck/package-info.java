/**
 * The kit that proves a backend against SPEC.md: extend {@link dev.holdfast.tck.LockManagerTck} and
 * say how your managers are opened.
 */
@NullMarked
package dev.holdfast.tck;

import org.jspecify.annotations.NullMarked;
