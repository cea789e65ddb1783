package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/** Opens the managers that the properties describe. */
final class ManagerFactory {
  /** Keeps locks apart from an application's own keys on the same server. */
  private static final String KEY_PREFIX = "lock:";

  private final HoldfastProperties properties;
  private final ObjectProvider<HoldfastConnectionDetails> details;
  private final ObjectProvider<SslBundles> bundles;
  private final ObjectProvider<ManagerDecorator> decorators;
  private final Environment environment;

  ManagerFactory(
      HoldfastProperties properties,
      ObjectProvider<HoldfastConnectionDetails> details,
      ObjectProvider<SslBundles> bundles,
      ObjectProvider<ManagerDecorator> decorators,
      Environment environment) {
    this.properties = properties;
    this.details = details;
    this.bundles = bundles;
    this.decorators = decorators;
    this.environment = environment;
  }

  /**
   * Opens the manager of {@code holdfast.url}, or of the connection details that there are.
   *
   * @param name the name of its bean
   * @throws LockConfigurationException if the properties are wrong
   */
  LockManager openDefault(String name) {
    requireNotBoth("holdfast", properties.url(), properties.nodes());
    List<HoldfastConnectionDetails> found = details.orderedStream().toList();
    if (found.isEmpty() && !StringUtils.hasText(properties.url())) {
      throw new LockConfigurationException("holdfast.url is empty; set it to a URL, or remove it");
    }
    ManagerOpening opening = new ManagerOpening(properties.url(), properties.options());
    if (!found.isEmpty()) {
      opening.nodes(found.stream().flatMap(each -> each.getNodes().stream()).toList());
      if (found.stream().allMatch(HoldfastConnectionDetails::isEphemeral)) {
        opening.redlockDefault("newNodes", "trust");
      }
    }
    for (HoldfastConnectionDetails each : found) {
      if (each instanceof SharedRedis || each.isEphemeral()) { // may be the cache's server as well
        opening.redlockDefault("keyPrefix", KEY_PREFIX);
      }
      if (each instanceof SharedRedis shared) {
        shared.logRisk();
      }
    }
    return decorated(name, opening);
  }

  /**
   * Opens one of {@code holdfast.managers}.
   *
   * @throws LockConfigurationException if the properties are wrong
   */
  LockManager openNamed(String name) {
    String key = ManagersRegistrar.KEY + "." + name;
    ManagerProperties manager = named(name);
    requireNotBoth(key, manager.url(), manager.nodes());
    if (!StringUtils.hasText(manager.url()) && manager.nodes().isEmpty()) {
      throw withoutServers(key);
    }
    ManagerOpening opening = new ManagerOpening(manager.url(), manager.options());
    if (!manager.nodes().isEmpty()) {
      opening.nodes(nodes(key, manager.nodes(), bundles.getIfAvailable()));
    }
    return decorated(name, opening);
  }

  /** Opens and decorates a manager, and closes it if a decorator fails. */
  private LockManager decorated(String name, ManagerOpening opening) {
    List<ManagerDecorator> all = decorators.orderedStream().toList();
    LockManager manager = opening.open();
    try {
      for (ManagerDecorator decorator : all) {
        manager = decorator.decorate(name, manager);
      }
      return manager;
    } catch (Throwable failure) {
      manager.close();
      throw failure;
    }
  }

  /**
   * Returns the end of one of {@code holdfast.managers}.
   *
   * @throws LockConfigurationException if its grace is too long
   */
  ManagerLifecycle lifecycle(String name, LockManager manager) {
    Duration own = named(name).closeGrace();
    String key = own == null ? "holdfast" : ManagersRegistrar.KEY + "." + name;
    Duration asked = own == null ? properties.closeGrace() : own;
    return new ManagerLifecycle(manager, CloseGrace.of(asked, key + ".close-grace", environment));
  }

  private ManagerProperties named(String name) {
    ManagerProperties found = properties.managers().get(name);
    if (found == null) { // the name was known when the application was processed ahead of time
      throw withoutServers(ManagersRegistrar.KEY + "." + name);
    }
    return found;
  }

  /** Returns the nodes of a key, in their order. */
  static List<HoldfastNode> nodes(
      String key, List<NodeProperties> nodes, @Nullable SslBundles bundles) {
    List<HoldfastNode> all = new ArrayList<>();
    for (NodeProperties node : nodes) {
      all.add(node.node(key + ".nodes[" + all.size() + "]", bundles));
    }
    return all;
  }

  private static LockConfigurationException withoutServers(String key) {
    return new LockConfigurationException(
        key + " has neither a URL nor nodes; set " + key + ".url or " + key + ".nodes");
  }

  private static void requireNotBoth(String key, @Nullable String url, List<NodeProperties> nodes) {
    if (url != null && !nodes.isEmpty()) {
      throw new LockConfigurationException(
          key + ".url and " + key + ".nodes are both set; remove one of them");
    }
  }
}
