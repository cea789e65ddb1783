package dev.holdfast.tck.env;

import dev.holdfast.LockManager;
import java.util.Map;
import java.util.Optional;

/**
 * A backend that is seen through its managers alone.
 *
 * @param address its URL
 * @param isInProcess whether other processes have other locks
 * @param brokenByDesign the reasons by rule
 */
record UrlEnvironment(String address, boolean isInProcess, Map<String, String> brokenByDesign)
    implements TckEnvironment {
  UrlEnvironment {
    brokenByDesign = Map.copyOf(brokenByDesign);
  }

  @Override
  public LockManager open(Map<String, String> options) {
    return LockManager.open(address, options);
  }

  @Override
  public Optional<String> url() {
    return Optional.of(address);
  }

  @Override
  public TckTiming timing() {
    return isInProcess ? TckTiming.local() : TckTiming.servers();
  }
}
