package dev.holdfast.junit;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The requests of a test and their leases, in their order. Safe for use by many threads. */
final class LockJournal {
  /** The number of entries at which ended leases are dropped. A failure shows the rest. */
  private static final int MAX_ENTRIES = 1_000;

  /** Holders that are looked up for a report. Each look may take as long as an outage. */
  private static final int MAX_LOOKS = 5;

  private static final Pattern OF_LIBRARIES = Pattern.compile("(?:dev\\.holdfast|javax?|jdk)\\.");

  // guarded by this
  private final List<Entry> entries = new ArrayList<>();
  private final Set<String> refused = new LinkedHashSet<>();
  private int limit = MAX_ENTRIES;

  /** One request: waiting, or with a lease, or ended without one. */
  final class Entry {
    private final String name;
    private final String place;
    private volatile @Nullable Lease lease;

    private Entry(LockRequest request) {
      name = request.name();
      place = "thread " + Thread.currentThread().getName() + " at " + caller();
    }

    /** Ends the wait, with a lease if there is one. */
    void end(Optional<Lease> granted) {
      lease = granted.orElse(null);
      endWithoutLease();
    }

    /** Ends the wait, unless it has a lease. */
    void endWithoutLease() {
      if (lease == null) {
        drop(this);
      }
    }

    private boolean isOpen() {
      Lease granted = lease;
      return granted != null && granted.isHeld();
    }

    private boolean isEnded() {
      return lease != null && !isOpen();
    }

    private String describe() {
      Lease granted = lease;
      return "'"
          + name
          + "' "
          + (granted == null ? "is waited for by " : state(granted) + ", acquired by ")
          + place;
    }
  }

  Entry begin(LockRequest request) {
    Entry entry = new Entry(request);
    synchronized (this) {
      if (entries.size() >= limit) {
        entries.removeIf(Entry::isEnded);
        limit = Math.max(MAX_ENTRIES, 2 * entries.size());
      }
      entries.add(entry);
    }
    return entry;
  }

  private synchronized void drop(Entry entry) {
    if (entries.remove(entry) && refused.size() < MAX_ENTRIES) {
      refused.add(entry.name);
    }
  }

  private synchronized List<Entry> entries() {
    return List.copyOf(entries);
  }

  private synchronized Set<String> refused() {
    return new LinkedHashSet<>(refused);
  }

  /** Describes the leases that are held. */
  List<String> open() {
    return entries().stream().filter(Entry::isOpen).map(Entry::describe).toList();
  }

  /** Describes all leases and waiters, and the holders of locks that others hold. */
  List<String> all(LockManager manager) {
    List<Entry> now = entries();
    Set<String> ofOthers = refused();
    now.stream().filter(entry -> entry.lease == null).forEach(entry -> ofOthers.add(entry.name));
    now.stream().filter(Entry::isOpen).forEach(entry -> ofOthers.remove(entry.name));
    return Stream.concat(
            now.stream().map(Entry::describe),
            ofOthers.stream().limit(MAX_LOOKS).map(name -> holder(manager, name)))
        .toList();
  }

  private static String holder(LockManager manager, String name) {
    if (!manager.capabilities().contains(LockCapability.INSPECTION)) {
      return "'" + name + "' is held by another owner, whose label cannot be read";
    }
    try {
      return manager
          .inspect(name)
          .map(status -> "'" + name + "' is held by another owner, '" + status.ownerLabel() + "'")
          .orElse("'" + name + "' is free");
    } catch (LockException | IllegalStateException e) {
      return "'" + name + "': the holder is not known: " + e.getMessage();
    }
  }

  private static String state(Lease lease) {
    try {
      lease.requireHeld();
      return "is held for another " + inSeconds(lease.remaining());
    } catch (LockLostException e) {
      return "was lost (" + e.reason() + ")";
    } catch (IllegalStateException e) {
      return "was released";
    }
  }

  private static String inSeconds(Duration time) {
    return String.format(Locale.ROOT, "%d.%03d s", time.toSeconds(), time.toMillisPart());
  }

  /** Returns the place in the user's code that asks for a lock. */
  private static String caller() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .filter(frame -> !OF_LIBRARIES.matcher(frame.getClassName()).lookingAt())
                    .findFirst())
        .map(
            frame ->
                frame.getClassName()
                    + "."
                    + frame.getMethodName()
                    + "("
                    + frame.getFileName()
                    + ":"
                    + frame.getLineNumber()
                    + ")")
        .orElse("an unknown place");
  }
}
