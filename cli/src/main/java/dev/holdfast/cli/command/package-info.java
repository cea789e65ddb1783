/** Options, class path, logging and failures that all commands share. */
@NullMarked
package dev.holdfast.cli.command;

import org.jspecify.annotations.NullMarked;
