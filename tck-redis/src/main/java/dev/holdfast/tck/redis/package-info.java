/**
 * The kit's environment for backends that keep locks on Redis nodes: {@link
 * dev.holdfast.tck.redis.RedisTckEnvironment}.
 */
@NullMarked
package dev.holdfast.tck.redis;

import org.jspecify.annotations.NullMarked;
