/** Backends are found wherever an application runs; each test starts a JVM of its own. */
@NullMarked
package dev.holdfast.discovery;

import org.jspecify.annotations.NullMarked;
