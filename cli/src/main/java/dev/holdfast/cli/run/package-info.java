/** {@code holdfast run}: a command under a lock, and its guardian. */
@NullMarked
package dev.holdfast.cli.run;

import org.jspecify.annotations.NullMarked;
