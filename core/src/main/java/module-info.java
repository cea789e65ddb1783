/**
 * The parts that every backend needs: leases, waiting, keep-alive and loss, over a {@link
 * dev.holdfast.core.LockPrimitive}.
 */
module dev.holdfast.core {
  requires transitive dev.holdfast.api;
  requires static jdk.jfr;
  requires static org.jspecify;

  exports dev.holdfast.core;
}
