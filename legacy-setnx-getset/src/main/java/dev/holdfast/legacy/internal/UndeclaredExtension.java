package dev.holdfast.legacy.internal;

/**
 * A primitive that extends leases without declaring the capability, because the old pattern has no
 * extension. A migration uses it to renew both halves of a lock.
 */
public interface UndeclaredExtension {}
