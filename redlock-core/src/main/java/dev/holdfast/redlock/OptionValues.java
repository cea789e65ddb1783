package dev.holdfast.redlock;

import dev.holdfast.core.KeyPrefix;
import dev.holdfast.core.ManagerOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The values of {@link RedlockOptions}. They change only while new options are made. */
final class OptionValues {
  ManagerOptions manager = ManagerOptions.defaults();
  Duration nodeTimeout = RedlockOptions.DEFAULT_NODE_TIMEOUT;
  Duration quorumTimeout = RedlockOptions.DEFAULT_QUORUM_TIMEOUT;
  Duration connectTimeout = RedlockOptions.DEFAULT_CONNECT_TIMEOUT;
  double drift = RedlockOptions.DEFAULT_DRIFT;
  KeyPrefix keyPrefix = new KeyPrefix("");
  boolean fencing = true;
  @Nullable Boolean restartGuard;
  boolean trustingNewNodes;
  String cluster = "";
  boolean lazy;

  /** Makes the defaults. */
  OptionValues() {}

  /** Copies values. */
  OptionValues(OptionValues other) {
    manager = other.manager;
    nodeTimeout = other.nodeTimeout;
    quorumTimeout = other.quorumTimeout;
    connectTimeout = other.connectTimeout;
    drift = other.drift;
    keyPrefix = other.keyPrefix;
    fencing = other.fencing;
    restartGuard = other.restartGuard;
    trustingNewNodes = other.trustingNewNodes;
    cluster = other.cluster;
    lazy = other.lazy;
  }
}
