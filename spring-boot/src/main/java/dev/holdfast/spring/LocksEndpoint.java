package dev.holdfast.spring;

import dev.holdfast.HeldLock;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.spring.LocksReport.Answer;
import dev.holdfast.spring.LocksReport.Managers;
import dev.holdfast.spring.LocksReport.OneLock;
import dev.holdfast.spring.LocksReport.Release;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;

/**
 * The endpoint {@code locks}: the nodes and leases of each manager in this process, the holder of
 * one lock, and a forced release, which needs {@code management.endpoint.locks.access=unrestricted}
 * or the same value of {@code management.endpoints.access.default}. The parameter {@code manager}
 * is the name of a manager's bean. Names of locks may contain slashes. Safe for use by many
 * threads.
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
final class LocksEndpoint {
  private static final Logger LOG = System.getLogger(LocksEndpoint.class.getName());

  private final Map<String, LockManager> managers;

  LocksEndpoint(Map<String, LockManager> managers) {
    this.managers = managers;
  }

  /** Shows the nodes and leases of all managers, without asking the nodes. */
  @ReadOperation
  Managers locks() {
    Map<String, LocksReport.Manager> all = new LinkedHashMap<>();
    managers.forEach((name, manager) -> all.put(name, LocksReport.of(manager)));
    return new Managers(all);
  }

  /**
   * Asks the nodes for the holder of a lock.
   *
   * @param manager null for all managers
   * @return null if there is no such manager
   * @throws InvalidEndpointRequestException if there can be no lock of this name
   */
  @ReadOperation
  @Nullable OneLock lock(
      @Selector(match = Match.ALL_REMAINING) String[] name, @Nullable String manager) {
    String lock = String.join("/", name);
    Map<String, Answer> answers = new LinkedHashMap<>();
    managers.forEach(
        (key, each) -> {
          if (manager == null || manager.equals(key)) {
            answers.put(key, inspect(each, lock));
          }
        });
    return answers.isEmpty() ? null : new OneLock(lock, answers);
  }

  private static Answer inspect(LockManager manager, String lock) {
    try {
      return Answer.of(manager.inspect(lock), leasesOf(manager));
    } catch (LockConfigurationException e) {
      throw invalid(e);
    } catch (LockException | IllegalStateException e) {
      return Answer.failed(e);
    }
  }

  /** Returns no leases for a decorator that hides them. */
  private static List<HeldLock> leasesOf(LockManager manager) {
    try {
      return manager.leases();
    } catch (LockConfigurationException hidden) {
      return List.of();
    }
  }

  /**
   * Takes a lock away from its holder.
   *
   * @param manager null for the only manager
   * @return null if there is no such manager
   * @throws InvalidEndpointRequestException if there are several managers, and none is named, or if
   *     there can be no lock of this name
   */
  @DeleteOperation
  @Nullable Release release(
      @Selector(match = Match.ALL_REMAINING) String[] name, @Nullable String manager) {
    String lock = String.join("/", name);
    String chosen = manager == null ? onlyManager() : manager;
    LockManager found = managers.get(chosen);
    if (found == null) {
      return null;
    }
    try {
      boolean isReleased = found.forceRelease(lock);
      LOG.log(
          Level.INFO,
          "the lock ''{0}'' of the manager ''{1}'' was released by the endpoint: {2}",
          lock,
          chosen,
          isReleased);
      return new Release(lock, chosen, isReleased, null);
    } catch (LockConfigurationException e) {
      throw invalid(e);
    } catch (LockException | IllegalStateException e) {
      return new Release(lock, chosen, false, LocksReport.messageOf(e));
    }
  }

  private static InvalidEndpointRequestException invalid(LockConfigurationException wrong) {
    return new InvalidEndpointRequestException(LocksReport.messageOf(wrong), "wrong name", wrong);
  }

  private String onlyManager() {
    if (managers.size() != 1) {
      throw new InvalidEndpointRequestException(
          "there are several lock managers; name one by the parameter manager: "
              + managers.keySet(),
          "manager is missing");
    }
    return managers.keySet().iterator().next();
  }
}
