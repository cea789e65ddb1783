/**
 * Tests of locks have to be about time, and a machine whose host takes the processors away tells
 * them nothing. {@link dev.holdfast.testsupport.stalls.Stalls} sees that happen, and {@link
 * dev.holdfast.testsupport.stalls.AgainAfterAStall} has such a test run again. Nothing else is
 * forgiven: a test that fails on a machine that runs has failed.
 */
@NullMarked
package dev.holdfast.testsupport.stalls;

import org.jspecify.annotations.NullMarked;
