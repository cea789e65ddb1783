/** Metrics of lock managers, and observations of locks, for Micrometer. */
module dev.holdfast.micrometer {
  requires transitive dev.holdfast.api;
  requires transitive micrometer.core;
  requires transitive micrometer.observation;
  requires micrometer.commons;
  requires static org.jspecify;

  exports dev.holdfast.micrometer;
}
