package dev.holdfast.cli;

import dev.holdfast.LockManager;
import dev.holdfast.tck.TckEnvironment;
import dev.holdfast.tck.TckTiming;
import java.util.Map;
import java.util.Optional;

/**
 * A backend that is seen through its managers alone.
 *
 * @param address its URL
 * @param isInProcess whether other processes have other locks
 */
record UrlEnvironment(String address, boolean isInProcess) implements TckEnvironment {
  @Override
  public LockManager open(Map<String, String> options) {
    return LockManager.open(address, options);
  }

  @Override
  public Optional<String> url() {
    return isInProcess ? Optional.empty() : Optional.of(address);
  }

  @Override
  public TckTiming timing() {
    return isInProcess ? TckTiming.local() : TckTiming.servers();
  }
}
