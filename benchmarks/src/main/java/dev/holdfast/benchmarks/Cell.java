package dev.holdfast.benchmarks;

import java.util.Optional;

/**
 * A figure of one contestant in one scenario.
 *
 * @param value as measured
 * @param ratio to the floor's in the same rounds, or empty where that has no meaning
 */
public record Cell(Spread value, Optional<Spread> ratio) {}
