package dev.holdfast.spring;

import java.util.List;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * The Redis servers on which the lock manager of {@code holdfast.url} keeps its locks. If an
 * application has several beans of this type, their nodes are joined, in the order of the beans.
 * Such beans take the place of the nodes in {@code holdfast.url} and of {@code holdfast.nodes}.
 */
public interface HoldfastConnectionDetails extends ConnectionDetails {
  /**
   * Returns the nodes: independent servers, of which none is a replica of another.
   *
   * @return at least one node
   */
  List<HoldfastNode> getNodes();

  /**
   * Returns whether the servers are made for this run of the application, as containers of tests
   * are, so that no lock can be held on them before. If all details say so, the nodes are trusted
   * although they are new, and vote at once. If any details say so, the keys of locks begin with
   * {@code lock:}, unless the options give another {@code keyPrefix}.
   *
   * @return false by default
   */
  default boolean isEphemeral() {
    return false;
  }
}
