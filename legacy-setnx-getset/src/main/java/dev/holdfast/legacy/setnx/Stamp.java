package dev.holdfast.legacy.setnx;

/**
 * The value of a lock: until when it is held, by the clock of the client that wrote it.
 *
 * @param text as it stands in the key
 * @param micros since 1970-01-01T00:00Z
 */
record Stamp(String text, long micros) {}
