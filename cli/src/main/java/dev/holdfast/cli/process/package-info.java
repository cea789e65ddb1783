/** The process that a command runs in: environment, signals, exit codes, messages and time. */
@NullMarked
package dev.holdfast.cli.process;

import org.jspecify.annotations.NullMarked;
