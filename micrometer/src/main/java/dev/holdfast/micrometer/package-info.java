/**
 * Metrics and observations for Micrometer: {@link dev.holdfast.micrometer.HoldfastMetrics} binds
 * the meters of a manager to a registry, and {@link dev.holdfast.micrometer.HoldfastObservations}
 * observes each acquire and each hold, for example as spans of a trace.
 */
@NullMarked
package dev.holdfast.micrometer;

import org.jspecify.annotations.NullMarked;
