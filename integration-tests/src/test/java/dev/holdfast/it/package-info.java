/**
 * The shared suite: how every backend behaves on real servers, written once. What it runs for is
 * listed in {@link dev.holdfast.it.Backend}.
 */
@NullMarked
package dev.holdfast.it;

import org.jspecify.annotations.NullMarked;
