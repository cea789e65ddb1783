package dev.holdfast.spring;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The keys of one of several managers.
 *
 * @param url URL of the lock manager.
 * @param nodes Redis servers of the lock manager, instead of a URL.
 * @param options Options of the URL by name, in place of the same options in the URL.
 * @param closeGrace Time for holders to release their locks at shutdown. Defaults to
 *     holdfast.close-grace.
 */
record ManagerProperties(
    @Nullable String url,
    @DefaultValue List<NodeProperties> nodes,
    @DefaultValue Map<String, String> options,
    @Nullable Duration closeGrace) {
  /** Leaves out the URL, the nodes and the options, which can contain passwords. */
  @Override
  public String toString() {
    return "ManagerProperties[closeGrace=" + closeGrace + "]";
  }
}
