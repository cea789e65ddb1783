/** The arrows, public API, rules, loggers and language of all modules. */
@NullMarked
package dev.holdfast.project;

import org.jspecify.annotations.NullMarked;
