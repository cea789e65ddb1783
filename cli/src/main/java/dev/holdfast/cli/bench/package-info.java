/** {@code holdfast bench}: its options, tables and reports. */
@NullMarked
package dev.holdfast.cli.bench;

import org.jspecify.annotations.NullMarked;
