package dev.holdfast.tck.env;

import dev.holdfast.LockManager;
import dev.holdfast.ManagerBuilder;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A backend that is seen through its managers alone.
 *
 * @param address its URL
 * @param isIsolated whether no other environment has this URL
 * @param isInProcess whether other processes have other locks
 * @param wallClock of the managers, or empty if the backend takes none
 * @param brokenByDesign the reasons by rule
 */
record UrlEnvironment(
    String address,
    boolean isIsolated,
    boolean isInProcess,
    Optional<SteppedClock> wallClock,
    Map<String, String> brokenByDesign)
    implements TckEnvironment {
  private static final String NAME = "{name}";

  UrlEnvironment {
    brokenByDesign = Map.copyOf(brokenByDesign);
  }

  static UrlEnvironment of(String url, boolean isInProcess, Map<String, String> brokenByDesign) {
    String address = url.replace(NAME, "tck-" + UUID.randomUUID());
    Optional<SteppedClock> clock =
        SteppedClock.of(wall -> LockManager.builder(address).wallClock(wall).open());
    return new UrlEnvironment(address, !address.equals(url), isInProcess, clock, brokenByDesign);
  }

  @Override
  public LockManager open(Map<String, String> options) {
    ManagerBuilder builder = LockManager.builder(address).options(options);
    wallClock.ifPresent(builder::wallClock);
    return builder.open();
  }

  @Override
  public Optional<String> url() {
    return Optional.of(address);
  }

  @Override
  public Optional<TckClock> clock() {
    return wallClock.map(clock -> clock);
  }

  @Override
  public TckTiming timing() {
    return isInProcess ? TckTiming.local() : TckTiming.servers();
  }
}
