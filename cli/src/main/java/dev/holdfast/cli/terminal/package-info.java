/** Text on a terminal, and questions to its user. */
@NullMarked
package dev.holdfast.cli.terminal;

import org.jspecify.annotations.NullMarked;
