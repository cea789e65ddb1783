package dev.holdfast.legacy.setnx;

import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/**
 * Milliseconds with a fraction: stamps that differ from each other, and end with their ttl. Each
 * build runs the kit with whole seconds, and CI with these, too.
 */
@Tag("slow")
class SetnxMillisTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    return new SetnxEnvironment(
        "unit=ms&number=float",
        new StampNode.Stamps(1_000, true),
        true,
        Map.of("REL-3", "DEL removes another owner's lock as if it were its own, and cannot tell"));
  }
}
