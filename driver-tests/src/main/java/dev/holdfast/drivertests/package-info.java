/**
 * The contracts and helpers of every driver's tests: contracts that a driver's tests extend, and
 * helpers.
 *
 * <p>{@link dev.holdfast.drivertests.PromisesContract}, {@link
 * dev.holdfast.drivertests.RepliesContract} and {@link
 * dev.holdfast.drivertests.TransactionContract} are about a {@link dev.holdfast.drivertests.Driver}
 * alone. The other contracts have the whole of Redlock above it.
 */
@NullMarked
package dev.holdfast.drivertests;

import org.jspecify.annotations.NullMarked;
