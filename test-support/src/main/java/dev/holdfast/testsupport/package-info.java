/**
 * Helpers for the tests of all modules: conditions to wait for, logs, a proxy that makes faults.
 */
@NullMarked
package dev.holdfast.testsupport;

import org.jspecify.annotations.NullMarked;
