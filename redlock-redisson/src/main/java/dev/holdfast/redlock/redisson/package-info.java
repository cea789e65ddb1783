/**
 * Redlock with Redisson as a client, never its locks: {@link
 * dev.holdfast.redlock.redisson.RedissonRedlock} takes your own clients, and URLs that begin with
 * {@code redlock:} need nothing of this package.
 */
@NullMarked
package dev.holdfast.redlock.redisson;

import org.jspecify.annotations.NullMarked;
