package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.micrometer.HoldfastMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * The metrics of all managers, from the end of the start until the context closes. A mistake in a
 * metric is logged, and costs neither a lock nor the start.
 */
final class ManagerMetrics implements SmartInitializingSingleton, AutoCloseable {
  private static final Logger LOG = System.getLogger(ManagerMetrics.class.getName());

  private final List<HoldfastMetrics> metrics;
  private final ObjectProvider<MeterRegistry> registries;

  /**
   * Creates metrics that are not bound yet.
   *
   * @param managers the managers by the names of their beans, which are the values of the tag
   * @param registries the registries, which are not created before all other beans
   */
  ManagerMetrics(Map<String, LockManager> managers, ObjectProvider<MeterRegistry> registries) {
    this.metrics =
        managers.entrySet().stream()
            .map(entry -> new HoldfastMetrics(entry.getValue(), entry.getKey(), Tags.empty()))
            .toList();
    this.registries = registries;
  }

  /** Binds to the one or primary registry, or to each of several without a primary one. */
  @Override
  public void afterSingletonsInstantiated() {
    MeterRegistry registry = registries.getIfUnique();
    List<MeterRegistry> all =
        registry == null ? registries.orderedStream().toList() : List.of(registry);
    all.forEach(this::bindTo);
  }

  private void bindTo(MeterRegistry registry) {
    for (HoldfastMetrics each : metrics) {
      try {
        each.bindTo(registry);
      } catch (LockConfigurationException | IllegalStateException e) {
        LOG.log(Level.WARNING, "a lock manager has no metrics: " + e.getMessage(), e);
      }
    }
  }

  @Override
  public void close() {
    metrics.forEach(HoldfastMetrics::close);
  }
}
