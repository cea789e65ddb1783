package dev.holdfast.spring;

import dev.holdfast.LockManager;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.ObjectProvider;

/**
 * The managers that the auto-configuration opens: decorated before any other bean sees them, and
 * known by their backends. Safe for use by many threads.
 */
final class OpenedManagers {
  private final ObjectProvider<ManagerDecorator> decorators;
  private final Map<String, String> backends = new ConcurrentHashMap<>();

  OpenedManagers(ObjectProvider<ManagerDecorator> decorators) {
    this.decorators = decorators;
  }

  /** The opening of a manager. */
  @FunctionalInterface
  interface Opening {
    LockManager open();
  }

  /**
   * Opens and decorates a manager. Finds the decorators first, so that a failure of theirs leaves
   * no manager open.
   *
   * @param name the name of the manager's bean
   * @param backend the scheme of its URL
   */
  LockManager open(String name, String backend, Opening opening) {
    List<ManagerDecorator> all = decorators.orderedStream().toList();
    LockManager manager = opening.open();
    backends.put(name, backend);
    for (ManagerDecorator decorator : all) {
      manager = decorator.decorate(name, manager);
    }
    return manager;
  }

  /** Finds the backend of a manager, which is known if it was opened here. */
  Optional<String> backendOf(String name) {
    return Optional.ofNullable(backends.get(name));
  }
}
