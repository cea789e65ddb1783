/** {@code holdfast nodes}: Redis servers on this machine. */
@NullMarked
package dev.holdfast.cli.nodes;

import org.jspecify.annotations.NullMarked;
