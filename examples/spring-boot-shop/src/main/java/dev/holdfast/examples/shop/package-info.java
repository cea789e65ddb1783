/** A small shop of several instances: orders that are shipped once, and a scheduled report. */
@NullMarked
package dev.holdfast.examples.shop;

import org.jspecify.annotations.NullMarked;
