/** Scripts as transactions, for nodes that refuse scripts. */
@NullMarked
package dev.holdfast.redlock.internal.noscript;

import org.jspecify.annotations.NullMarked;
