package dev.holdfast.micrometer;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import java.util.Locale;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;

/**
 * The meters of one name. They differ in two tags: one with few values, such as {@code outcome},
 * and one that says which lock or node, which may be absent. Safe for use by many threads.
 *
 * @param <M> the type of the meters
 */
final class MeterFamily<M extends Meter> {
  private final String key;
  private final String subjectKey;
  private final Function<Tags, M> register;
  private final ConcurrentMap<Series, M> series = new ConcurrentHashMap<>();

  /**
   * The tags that tell one meter from another.
   *
   * @param value an enum constant. The tag is its name in lower case
   * @param subject the lock or the node, or empty for a meter without this tag
   */
  private record Series(Enum<?> value, String subject) {}

  /**
   * Creates a family without meters.
   *
   * @param key the first tag
   * @param subjectKey the second tag
   * @param register finds or adds the meter with these tags
   */
  MeterFamily(String key, String subjectKey, Function<Tags, M> register) {
    this.key = key;
    this.subjectKey = subjectKey;
    this.register = register;
  }

  M of(Enum<?> value, String subject) {
    Series wanted = new Series(value, subject);
    M known = series.get(wanted);
    if (known != null) {
      return known;
    }
    // not computeIfAbsent: a registry calls code of users, which must not run under a lock of ours
    M added = register.apply(tags(wanted));
    series.putIfAbsent(wanted, added);
    return added;
  }

  /** Adds the meters of all values, so that the first event is seen as a change from zero. */
  void addAll(Enum<?>[] values, String subject) {
    for (Enum<?> value : values) {
      of(value, subject);
    }
  }

  private Tags tags(Series wanted) {
    Tags tags = Tags.of(key, wanted.value().name().toLowerCase(Locale.ROOT));
    return wanted.subject().isEmpty() ? tags : tags.and(subjectKey, wanted.subject());
  }
}
