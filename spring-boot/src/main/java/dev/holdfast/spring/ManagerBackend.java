package dev.holdfast.spring;

import dev.holdfast.spi.LockUrl;
import java.util.Map;

/**
 * The backend of a manager that the auto-configuration opens, for metrics.
 *
 * @param manager the name of the manager's bean
 * @param scheme the scheme of its URL
 */
record ManagerBackend(String manager, String scheme) {
  static ManagerBackend of(String manager, String url) {
    return new ManagerBackend(manager, LockUrl.parse(url, Map.of()).scheme());
  }
}
