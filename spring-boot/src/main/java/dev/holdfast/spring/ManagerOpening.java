package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.spi.LockUrl;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Collects the parts of one manager's URL, and opens it. Not safe for use by many threads. */
final class ManagerOpening {
  private final Map<String, String> options;
  private String url;

  /**
   * Starts with a URL.
   *
   * @param url null if nodes are given
   */
  ManagerOpening(@Nullable String url, Map<String, String> options) {
    this.url = url == null ? "" : url;
    this.options = new LinkedHashMap<>(options);
  }

  /** Sets the nodes, in place of those in the URL. A URL without nodes, as memory:, stays. */
  void nodes(List<HoldfastNode> nodes) {
    String uris = nodes.stream().map(HoldfastNode::uri).collect(Collectors.joining(","));
    if (url.isEmpty()) {
      url = "redlock:" + uris;
      return;
    }
    parsed().addresses().ifPresent(addresses -> replace(addresses, uris));
  }

  private void replace(String addresses, String uris) {
    int from = url.indexOf(addresses);
    url = url.substring(0, from) + uris + url.substring(from + addresses.length());
  }

  /** Lets Redlock's nodes vote although they are new, unless the properties say otherwise. */
  void trustNewNodes() {
    if (parsed().scheme().equals("redlock")) {
      optionIfUnset("newNodes", "trust");
    }
  }

  /** Sets an option that neither the URL nor the properties have. */
  void optionIfUnset(String name, String value) {
    if (!options.containsKey(name) && parsed().text(name, "").isEmpty()) {
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
    return LockManager.builder(url).options(options).open();
  }
}
