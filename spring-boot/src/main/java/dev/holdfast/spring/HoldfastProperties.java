package dev.holdfast.spring;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The keys below {@code holdfast}.
 *
 * @param url URL of the lock manager, such as redlock:redis://h1,redis://h2,redis://h3. Without it
 *     and without nodes, spring.data.redis serves as the only node.
 * @param nodes Redis servers of the lock manager, instead of a URL. Each has the keys host, port,
 *     username, password, database, ssl.enabled and ssl.bundle.
 * @param options Options of the URL by name, in place of the same options in the URL. Names are
 *     written as in the URL.
 * @param managers More lock managers. Their names are the names of their beans, and each has the
 *     keys url, nodes, options and close-grace.
 * @param enabled Whether to create lock managers. If false, a method with the annotation Locked
 *     fails the start.
 * @param closeGrace Time for holders to release their locks at shutdown, below
 *     spring.lifecycle.timeout-per-shutdown-phase. Defaults to 20s, or to two thirds of that
 *     timeout if this is less.
 * @param healthTimeout Longest time of a health check, which ends no later than quorumTimeout.
 * @param locked Defaults of the annotation Locked.
 */
@ConfigurationProperties("holdfast")
record HoldfastProperties(
    @Nullable String url,
    @DefaultValue List<NodeProperties> nodes,
    @DefaultValue Map<String, String> options,
    @DefaultValue Map<String, ManagerProperties> managers,
    @DefaultValue("true") boolean enabled,
    @Nullable Duration closeGrace,
    @DefaultValue("10s") Duration healthTimeout,
    @DefaultValue LockedDefaults locked) {
  /**
   * The keys below {@code holdfast.locked}.
   *
   * @param ttl How long a lock may outlive a holder that dies, unless the annotation says
   *     otherwise.
   */
  record LockedDefaults(@DefaultValue("30s") Duration ttl) {}

  /** Leaves out URLs, nodes and options, which can contain passwords. */
  @Override
  public String toString() {
    return "HoldfastProperties[enabled=" + enabled + ", closeGrace=" + closeGrace + "]";
  }
}
