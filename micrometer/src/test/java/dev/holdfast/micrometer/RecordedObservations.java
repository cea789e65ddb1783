package dev.holdfast.micrometer;

import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationView;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A handler that keeps the observations, in the order in which they start and stop. */
final class RecordedObservations implements ObservationHandler<Observation.Context> {
  final List<Observation.Context> started = new CopyOnWriteArrayList<>();
  final List<Thread> threads = new CopyOnWriteArrayList<>();
  final List<Observation.Context> stopped = new CopyOnWriteArrayList<>();

  @Override
  public void onStart(Observation.Context context) {
    threads.add(Thread.currentThread());
    started.add(context);
  }

  @Override
  public void onStop(Observation.Context context) {
    stopped.add(context);
  }

  @Override
  public boolean supportsContext(Observation.Context context) {
    return true;
  }

  /** Returns the observations of a name that have stopped. */
  List<Observation.Context> ended(String name) {
    return stopped.stream().filter(context -> name.equals(context.getName())).toList();
  }

  static Map<String, String> low(Observation.Context context) {
    return map(context.getLowCardinalityKeyValues());
  }

  static Map<String, String> high(Observation.Context context) {
    return map(context.getHighCardinalityKeyValues());
  }

  static @Nullable ObservationView parent(Observation.Context context) {
    return context.getParentObservation();
  }

  private static Map<String, String> map(Iterable<KeyValue> values) {
    Map<String, String> map = new TreeMap<>();
    values.forEach(value -> map.put(value.getKey(), value.getValue()));
    return map;
  }
}
