/**
 * The port for authors of drivers: implement {@link dev.holdfast.redlock.spi.RedisNodes}, and
 * extend {@link dev.holdfast.redlock.spi.RedlockProvider} for URLs. A {@link
 * dev.holdfast.redlock.spi.Round} is one command to many nodes.
 */
@NullMarked
package dev.holdfast.redlock.spi;

import org.jspecify.annotations.NullMarked;
