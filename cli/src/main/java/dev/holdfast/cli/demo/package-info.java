/** {@code holdfast demo}: locks at work on a terminal. */
@NullMarked
package dev.holdfast.cli.demo;

import org.jspecify.annotations.NullMarked;
