package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import java.util.List;
import java.util.Optional;
import org.springframework.boot.ssl.SslBundle;

/**
 * The SSL bundle of a manager's nodes. All nodes with TLS have the same bundle, because a manager
 * has one set of authorities.
 */
final class NodeBundles {
  private NodeBundles() {}

  /**
   * Finds the bundle of all nodes with TLS.
   *
   * @return empty for the authorities of the JVM
   * @throws LockConfigurationException if they have different bundles, or the bundle has settings
   *     that the drivers do not apply
   */
  static Optional<SslBundle> common(List<HoldfastNode> nodes) {
    List<Optional<SslBundle>> bundles =
        nodes.stream().filter(HoldfastNode::isTls).map(HoldfastNode::sslBundle).distinct().toList();
    if (bundles.size() > 1) {
      throw new LockConfigurationException(
          "the nodes of one lock manager have different SSL bundles; put the authorities of all of"
              + " them into one bundle, and name it for each node");
    }
    Optional<SslBundle> bundle = bundles.isEmpty() ? Optional.empty() : bundles.get(0);
    bundle.ifPresent(NodeBundles::requireUsable);
    return bundle;
  }

  private static void requireUsable(SslBundle bundle) {
    if (bundle.getOptions().isSpecified() || !bundle.getProtocol().equals("TLS")) {
      throw new LockConfigurationException(
          "the SSL bundle of a node sets ciphers or protocols, which lock managers do not apply;"
              + " use a bundle with key store and trust store alone");
    }
  }
}
