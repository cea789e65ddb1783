/** Redis nodes as URLs name them: {@link dev.holdfast.redis.RedisNodeUri}. */
@NullMarked
package dev.holdfast.redis;

import org.jspecify.annotations.NullMarked;
