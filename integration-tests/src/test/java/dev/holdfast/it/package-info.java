/**
 * The shared suite: how every backend behaves on real servers, written once. The list of what it
 * runs for is {@link dev.holdfast.it.Backend}.
 */
@NullMarked
package dev.holdfast.it;

import org.jspecify.annotations.NullMarked;
