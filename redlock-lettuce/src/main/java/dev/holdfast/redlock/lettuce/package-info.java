/**
 * Redlock with Lettuce: {@link dev.holdfast.redlock.lettuce.LettuceRedlock} takes your own clients,
 * and URLs that begin with {@code redlock:} need nothing of this package.
 */
@NullMarked
package dev.holdfast.redlock.lettuce;

import org.jspecify.annotations.NullMarked;
