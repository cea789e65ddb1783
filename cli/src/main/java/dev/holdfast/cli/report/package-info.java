/** JSON, and text in markup. */
@NullMarked
package dev.holdfast.cli.report;

import org.jspecify.annotations.NullMarked;
