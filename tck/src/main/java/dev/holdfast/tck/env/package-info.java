/**
 * The environment of the kit: how managers are opened, and the nodes, links, clocks and faults that
 * a backend offers to tests.
 */
@NullMarked
package dev.holdfast.tck.env;

import org.jspecify.annotations.NullMarked;
