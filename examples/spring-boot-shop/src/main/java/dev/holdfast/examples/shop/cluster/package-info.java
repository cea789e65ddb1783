/** The servers and processes of the shop on one machine. */
@NullMarked
package dev.holdfast.examples.shop.cluster;

import org.jspecify.annotations.NullMarked;
