/** Backends are found in every kind of application. Each test starts a JVM of its own. */
@NullMarked
package dev.holdfast.discovery;

import org.jspecify.annotations.NullMarked;
