/** {@code holdfast migrate}: stamps of old locks. */
@NullMarked
package dev.holdfast.cli.migrate;

import org.jspecify.annotations.NullMarked;
