/**
 * The tests of the rules, and their helpers. They are public for the kit only, and are no API:
 * their names and members change without notice.
 */
@NullMarked
package dev.holdfast.tck.rules;

import org.jspecify.annotations.NullMarked;
