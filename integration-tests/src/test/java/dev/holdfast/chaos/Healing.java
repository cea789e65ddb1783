package dev.holdfast.chaos;

/** Ends what one fault did. */
@FunctionalInterface
interface Healing {
  /** For faults that end by themselves. */
  Healing BY_ITSELF = () -> {};

  void heal() throws Exception;
}
