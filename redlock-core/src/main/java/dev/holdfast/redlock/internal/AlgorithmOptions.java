package dev.holdfast.redlock.internal;

import dev.holdfast.core.Clock;
import dev.holdfast.core.KeyPrefix;
import dev.holdfast.core.ManagerOptions;
import dev.holdfast.core.Scheduler;
import dev.holdfast.core.Validity;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * The values of {@code RedlockOptions}, for the algorithm. Immutable.
 *
 * @param managerOptions the options of all managers
 * @param nodeTimeout how long a straggler is waited for
 * @param quorumTimeout how long a quorum of answers is waited for, not below {@code nodeTimeout}
 * @param silenceLimit how long a node may be silent while an answer is due
 * @param connectTimeout how long connecting may take
 * @param validity how long a grant is valid
 * @param keyPrefix the beginning of each key
 * @param isFencing whether grants carry a fencing token
 * @param restartGuard whether nodes without their data do not vote, or empty if the number of nodes
 *     decides
 * @param isTrustingNewNodes whether nodes that all look new vote at once
 * @param cluster the name of the nodes as a whole
 * @param isLazy whether the first request for a lock connects, and not the opening
 */
public record AlgorithmOptions(
    ManagerOptions managerOptions,
    Duration nodeTimeout,
    Duration quorumTimeout,
    Duration silenceLimit,
    Duration connectTimeout,
    Validity validity,
    KeyPrefix keyPrefix,
    boolean isFencing,
    Optional<Boolean> restartGuard,
    boolean isTrustingNewNodes,
    String cluster,
    boolean isLazy) {
  public Duration maxTtl() {
    return managerOptions.maxTtl();
  }

  public Clock clock() {
    return managerOptions.clock();
  }

  public Optional<Scheduler> scheduler() {
    return managerOptions.scheduler();
  }

  public RandomGenerator random() {
    return managerOptions.random().orElseGet(SecureRandom::new);
  }
}
