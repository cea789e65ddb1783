/**
 * Proofs of the kit: a right manager over fake nodes, which must pass, and many that differ from it
 * by one small mistake, each of which must fail by exactly the rules that it breaks. The nodes are
 * fakes, because real ones cannot be made to lie.
 */
@NullMarked
package dev.holdfast.tck.broken;

import org.jspecify.annotations.NullMarked;
