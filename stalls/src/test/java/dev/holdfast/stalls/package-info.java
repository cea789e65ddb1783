@NullMarked
package dev.holdfast.stalls;

import org.jspecify.annotations.NullMarked;
