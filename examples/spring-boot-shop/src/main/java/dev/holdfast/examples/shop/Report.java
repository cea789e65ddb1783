package dev.holdfast.examples.shop;

import java.time.OffsetDateTime;

/**
 * A report.
 *
 * @param shipped the number of orders that were shipped until then
 */
record Report(OffsetDateTime writtenAt, String writtenBy, long shipped) {}
