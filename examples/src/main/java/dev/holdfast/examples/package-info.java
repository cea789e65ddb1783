/** Short programs that show one thing each. */
@NullMarked
package dev.holdfast.examples;

import org.jspecify.annotations.NullMarked;
