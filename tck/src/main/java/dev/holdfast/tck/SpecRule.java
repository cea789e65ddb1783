package dev.holdfast.tck;

import dev.holdfast.LockCapability;
import java.util.Set;

/**
 * One rule of SPEC.md.
 *
 * @param id for example {@code ACQ-3}
 * @param level MUST, SHOULD or MAY
 * @param section the heading that it stands under
 * @param capabilities the capabilities that a backend must declare, all of them, to be bound by the
 *     rule. None if every backend is bound.
 * @param text the rule itself
 * @param intent why there is such a rule
 */
public record SpecRule(
    String id,
    Level level,
    String section,
    Set<LockCapability> capabilities,
    String text,
    String intent) {

  /** The binding force of a rule, as in RFC 2119. */
  public enum Level {
    /** Without exception. */
    MUST,
    /** The rule holds except for good reasons. */
    SHOULD,
    /** If the author likes. */
    MAY
  }

  @Override
  public String toString() {
    return id + " " + level + ". " + text;
  }
}
