/** Notifications of releases, through publish and subscribe. */
@NullMarked
package dev.holdfast.redlock.internal.notify;

import org.jspecify.annotations.NullMarked;
