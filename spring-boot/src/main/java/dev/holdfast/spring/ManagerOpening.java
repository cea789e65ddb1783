package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.ManagerBuilder;
import dev.holdfast.spi.LockUrl;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.util.StringUtils;

/** Collects the parts of one manager's URL, and opens it. Not safe for use by many threads. */
final class ManagerOpening {
  private final Map<String, String> options;
  private String url;
  private @Nullable SslBundle sslBundle;

  /**
   * Starts with a URL.
   *
   * @param url null or blank if nodes are given
   */
  ManagerOpening(@Nullable String url, Map<String, String> options) {
    this.url = StringUtils.hasText(url) ? url : "";
    this.options = new LinkedHashMap<>(options);
  }

  /**
   * Sets the nodes, in place of those in the URL. A URL without nodes, as memory:, stays.
   *
   * @throws LockConfigurationException if the nodes have different SSL bundles
   */
  void nodes(List<HoldfastNode> nodes) {
    String uris = nodes.stream().map(HoldfastNode::uri).collect(Collectors.joining(","));
    if (url.isEmpty()) {
      url = "redlock:" + uris;
    } else {
      Optional<String> addresses = parsed().addresses();
      if (addresses.isEmpty()) {
        return;
      }
      int from = url.indexOf(addresses.get());
      url = url.substring(0, from) + uris + url.substring(from + addresses.get().length());
    }
    sslBundle = NodeBundles.common(nodes).orElse(null);
  }

  /** Sets an option of Redlock that neither the URL nor the properties have. */
  void redlockDefault(String name, String value) {
    LockUrl given = parsed();
    if (given.scheme().equals("redlock")
        && !options.containsKey(name)
        && given.text(name, "").isEmpty()) {
      options.put(name, value);
    }
  }

  private LockUrl parsed() {
    return LockUrl.parse(url, Map.of());
  }

  /**
   * Opens the manager.
   *
   * @throws LockConfigurationException if the URL or an option is wrong
   */
  LockManager open() {
    ManagerBuilder builder = LockManager.builder(url).options(options);
    if (sslBundle != null) {
      builder
          .trustManagers(sslBundle.getManagers().getTrustManagerFactory())
          .keyManagers(sslBundle.getManagers().getKeyManagerFactory());
    }
    return builder.open();
  }
}
