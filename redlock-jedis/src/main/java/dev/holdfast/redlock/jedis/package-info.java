/**
 * Redlock with Jedis: {@link dev.holdfast.redlock.jedis.JedisRedlock} takes your own clients, and
 * URLs that begin with {@code redlock:} need nothing of this package.
 */
@NullMarked
package dev.holdfast.redlock.jedis;

import org.jspecify.annotations.NullMarked;
