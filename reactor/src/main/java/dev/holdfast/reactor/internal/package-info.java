/** Not for users: found by {@link java.util.ServiceLoader}. */
@NullMarked
package dev.holdfast.reactor.internal;

import org.jspecify.annotations.NullMarked;
