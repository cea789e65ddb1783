package dev.holdfast.tck.env;

import dev.holdfast.LockManager;
import dev.holdfast.spi.OpenSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The part of the kit that a backend's author provides. It opens managers that see the same locks.
 * It should also supply the places where locks are kept, and the faults that can happen there. The
 * kit leaves out tests of anything that is not supplied, and the report says so.
 *
 * <pre>{@code
 * return TckEnvironment.ofUrl("mybackend:somewhere");
 * }</pre>
 *
 * <p>One environment serves one test at a time. Only {@link #open} may be called by several
 * threads. For drivers on Redis nodes there is a ready one in holdfast-tck-redis.
 */
@FunctionalInterface
public interface TckEnvironment extends AutoCloseable {
  /**
   * Returns the environment of a backend that is seen only through its managers, in this process
   * and in others.
   *
   * @param url by which all managers see the same locks. {@code {name}} in it stands for a name of
   *     which each environment has another, so that tests may run at the same time
   * @return an environment without nodes
   */
  static TckEnvironment ofUrl(String url) {
    return ofUrl(url, false, Map.of());
  }

  /**
   * Returns the environment of a backend that is seen only through its managers.
   *
   * @param url by which all managers see the same locks, with {@code {name}} as above
   * @param isInProcess whether other processes have other locks, as with {@code memory:name}
   * @param brokenByDesign as {@link #brokenByDesign()}
   * @return an environment without nodes
   */
  static TckEnvironment ofUrl(String url, boolean isInProcess, Map<String, String> brokenByDesign) {
    return UrlEnvironment.of(url, isInProcess, brokenByDesign);
  }

  /**
   * Opens a new manager. All that are opened see the same locks. The kit closes it.
   *
   * @param options options of SPEC.md, as in a URL: {@code owner}, {@code maxTtl}, {@code
   *     retryDelay}, and those about nodes, if it {@linkplain #hasNodeOptions has} them. A manager
   *     may refuse {@code keyPrefix}, {@code restartGuard}, {@code newNodes}, {@code cluster} and
   *     {@code drift} by a {@link dev.holdfast.LockConfigurationException}, and may not ignore them
   * @return a new manager
   */
  LockManager open(Map<String, String> options);

  /**
   * Returns whether other environments of the same kit may be in use at the same time, because they
   * share no lock, node or clock with this one. The kit looks for threads that managers leave
   * behind only among the threads that the environment or its managers have started.
   *
   * @return the same every time, by default false, so that tests run one after the other
   */
  default boolean isIsolated() {
    return false;
  }

  /**
   * Returns whether each lock is two locks, as while a fleet migrates: a forced release removes one
   * after the other, so that two operators at the same time may each remove one of them.
   *
   * @return the same every time, by default false
   */
  default boolean holdsTwoLocks() {
    return false;
  }

  /**
   * Returns the places where locks are kept.
   *
   * @return the same nodes every time, or none if the kit can look at none
   */
  default List<TckNode> nodes() {
    return List.of();
  }

  /**
   * Returns whether managers know {@code nodeTimeout}, {@code quorumTimeout}, {@code
   * connectTimeout} and {@code connect}.
   *
   * @return the same every time, by default true if there are nodes
   */
  default boolean hasNodeOptions() {
    return !nodes().isEmpty();
  }

  /**
   * Opens a manager with other nodes, or other ways to reach them.
   *
   * @param uris of nodes and of links
   * @param options as with {@link #open}
   * @return a new manager, which the kit closes
   */
  default LockManager openOn(List<String> uris, Map<String, String> options) {
    throw new UnsupportedOperationException("this environment opens managers on its nodes alone");
  }

  /**
   * Opens a manager on other nodes with settings that a program gives in code, such as trust
   * managers.
   *
   * @param uris of nodes and of links
   * @param options as with {@link #open}
   * @param settings trust and key managers
   * @return a new manager, which the kit closes
   */
  default LockManager openOn(
      List<String> uris, Map<String, String> options, OpenSettings settings) {
    throw new UnsupportedOperationException("this environment opens managers without settings");
  }

  /**
   * Returns a URL by which {@link LockManager#open(String, Map)} finds the same locks, also in
   * another process with the same class path unless {@link #isInProcess}.
   *
   * @return empty if there is none
   */
  default Optional<String> url() {
    return Optional.empty();
  }

  /**
   * Returns whether other processes have other locks, as with {@code memory:name}.
   *
   * @return the same every time, by default false
   */
  default boolean isInProcess() {
    return false;
  }

  /**
   * Returns the wall clock of the managers that {@link #open} opens, for example a {@link
   * SteppedClock}. It shows the machine's time unless a test sets it.
   *
   * @return empty if they use the machine's clock
   */
  default Optional<TckClock> clock() {
    return Optional.empty();
  }

  /**
   * Returns the times that the kit uses and expects.
   *
   * @return the same every time
   */
  default TckTiming timing() {
    return TckTiming.local();
  }

  /**
   * Returns the rules that this backend cannot keep, and why. The run fails unless a test of the
   * kit shows that each of them is broken, so that a rule that is kept is also promised.
   *
   * @return the reasons by the ids of the rules
   */
  default Map<String, String> brokenByDesign() {
    return Map.of();
  }

  /**
   * Returns facts for the report, such as the versions of servers.
   *
   * @return text by heading
   */
  default Map<String, String> facts() {
    return Map.of();
  }

  /**
   * Returns options under which the backend works in another way, such as {@code {fencing=false}}.
   * Tests of times and of exclusion run with each set as well.
   *
   * @return by default none
   */
  default List<Map<String, String>> optionSets() {
    return List.of();
  }

  /** Makes all nodes sound and empty again. Called after each test. */
  default void reset() {}

  @Override
  default void close() {}
}
