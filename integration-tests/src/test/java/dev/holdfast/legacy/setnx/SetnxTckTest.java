package dev.holdfast.legacy.setnx;

import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;
import java.util.Map;

/** The pattern as the SETNX page has it: whole seconds. */
class SetnxTckTest extends LockManagerTck {
  @Override
  protected TckEnvironment environment() {
    return new SetnxEnvironment(
        "unit=s&number=integer",
        new StampNode.Stamps(1_000_000, false),
        false, // FAULT-6 would be broken by as much as ACQ-10, and hide in a machine's stalls
        Map.of(
            "ACQ-5",
            "the stamp is all there is, and that of the same second is the same",
            "ACQ-10",
            "the stamp is a second later than the ttl, and holds until that second is over",
            "REL-3",
            "DEL removes another owner's lock as if it were its own, and cannot tell"));
  }
}
