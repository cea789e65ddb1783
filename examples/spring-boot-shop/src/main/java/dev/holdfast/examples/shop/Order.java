package dev.holdfast.examples.shop;

import org.jspecify.annotations.Nullable;

/**
 * An order.
 *
 * @param shippedBy the instance that shipped it, or null before
 * @param parcels how many were packed: one for each order that is shipped
 */
record Order(long id, String item, @Nullable String shippedBy, int parcels) {}
