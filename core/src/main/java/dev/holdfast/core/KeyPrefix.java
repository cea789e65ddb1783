package dev.holdfast.core;

import dev.holdfast.LockConfigurationException;

/**
 * The text before the name of each lock in its key. For backends that share a key space with other
 * data. Immutable.
 *
 * @param text perhaps empty
 */
public record KeyPrefix(String text) {
  private static final String OWN_KEYS = "holdfast:";

  /**
   * Returns the key of a lock.
   *
   * @param name the name of the lock
   * @return the key on the nodes
   */
  public String keyOf(String name) {
    return text + name;
  }

  /**
   * Refuses a name whose key could be one of our own keys.
   *
   * @param name the name of the lock
   * @throws LockConfigurationException saying what would do
   */
  public void requireName(String name) {
    String key = keyOf(name);
    if (key.startsWith(OWN_KEYS)) {
      throw new LockConfigurationException(
          "the key '"
              + key
              + "' begins with "
              + OWN_KEYS
              + ", as our own keys do: use another name or keyPrefix");
    }
  }
}
