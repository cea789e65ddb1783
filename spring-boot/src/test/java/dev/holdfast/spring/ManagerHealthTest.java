package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.testsupport.Fakes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class ManagerHealthTest {
  private final ApplicationContextRunner contexts =
      Contexts.of(HoldfastAutoConfiguration.class, HoldfastHealthAutoConfiguration.class);

  @Test
  void healthIsUpOrDownByPingAndShowsTheNodes() {
    contexts
        .withPropertyValues("holdfast.url=memory:", "holdfast.health-timeout=100ms")
        .run(
            context -> {
              HealthIndicator indicator = context.getBean(HealthIndicator.class);
              LockManager locks = context.getBean(LockManager.class);

              Health up = healthBy(indicator);
              assertThat(up.getStatus()).isEqualTo(Status.UP);
              assertThat(up.getDetails().get("nodes"))
                  .isEqualTo(List.of(LocksReport.of(locks.nodes().get(0))));
              assertThat(up.getDetails()).doesNotContainKey("warning");

              locks.unwrap(MemoryStore.class).orElseThrow().outage(true);
              assertThat(healthBy(indicator).getStatus()).isEqualTo(Status.DOWN);
            });
  }

  private static Health healthBy(HealthIndicator indicator) {
    return Objects.requireNonNull(indicator.health());
  }

  @ParameterizedTest
  @CsvSource({
    "UP, false",
    "UP UP, false",
    "UP UP UP, false",
    "UP DOWN UP, true",
    "UP QUARANTINED UP, true",
    "UP UP UP UP DOWN, false",
    "DOWN UP UP UP QUARANTINED, true"
  })
  void aManagerWithoutANodeToSpareIsUpWithAWarning(String states, boolean isWarned) {
    Health health = healthOf(fake(states));

    assertThat(health.getStatus()).isEqualTo(Status.UP);
    assertThat(health.getDetails().containsKey("warning")).isEqualTo(isWarned);
  }

  /** A fake whose nodes fail as a test says, and that a quorum answers. */
  private static LockManager fake(String states) {
    List<LockNode> nodes = new ArrayList<>();
    for (String state : states.split(" ", -1)) {
      nodes.add(
          new LockNode(
              "h" + nodes.size(),
              LockNode.State.valueOf(state),
              Instant.EPOCH,
              state.equals("UP") ? "" : "connection refused",
              Optional.empty()));
    }
    return Fakes.of(
        LockManager.class,
        (proxy, method, arguments) -> method.getName().equals("nodes") ? nodes : true);
  }

  @Test
  void aClosedManagerIsDown() {
    contexts
        .withPropertyValues("holdfast.url=memory:")
        .run(
            context -> {
              context.getBean(LockManager.class).close();
              assertThat(healthBy(context.getBean(HealthIndicator.class)).getStatus())
                  .isEqualTo(Status.DOWN);
            });
  }

  /** Lacks an operation, as a decorator that an application wrote before there was that one. */
  private static LockManager lacking(String absent, LockManager below, Set<String> alsoHidden) {
    return Fakes.of(
        LockManager.class,
        (proxy, method, arguments) -> {
          if (method.getName().equals(absent)) {
            throw new LockConfigurationException("Slow has no " + absent);
          }
          return alsoHidden.contains(method.getName())
              ? Optional.empty()
              : method.invoke(below, arguments);
        });
  }

  @ParameterizedTest
  @CsvSource({"ping, UNKNOWN", "nodes, UP"})
  void aManagerThatADecoratorHidesIsNotDown(String absent, String status) {
    try (LockManager below = LockManager.open("memory:")) {
      Health health = healthOf(lacking(absent, below, Set.of("unwrap")));

      assertThat(health.getStatus()).isEqualTo(new Status(status));
      assertThat(health.getDetails().get("error")).asString().contains("Slow has no " + absent);
    }
  }

  @Test
  void aManagerWhoseNodesAPersonHasToCorrectIsDown() {
    try (LockManager below = LockManager.open("memory:")) {
      assertThat(healthOf(lacking("ping", below, Set.of())).getStatus()).isEqualTo(Status.DOWN);
    }
  }

  private static Health healthOf(LockManager manager) {
    return healthBy(new ManagerHealthIndicator(manager, Duration.ofSeconds(1)));
  }

  @Test
  void eachOfSeveralManagersHasAContributor() {
    contexts
        .withBean("first", LockManager.class, () -> LockManager.open("memory:"))
        .withBean("second", LockManager.class, () -> LockManager.open("memory:"))
        .run(
            context -> {
              CompositeHealthContributor all = context.getBean(CompositeHealthContributor.class);
              assertThat(all.stream().map(entry -> entry.name()))
                  .containsExactlyInAnyOrder("first", "second");
            });
  }

  @Test
  void aManagerOfTheApplicationHasAContributorWithoutTheOtherAutoConfiguration() {
    Contexts.of(HoldfastHealthAutoConfiguration.class)
        .withBean("mine", LockManager.class, () -> LockManager.open("memory:"))
        .run(
            context ->
                assertThat(healthBy(context.getBean(HealthIndicator.class)).getStatus())
                    .isEqualTo(Status.UP));
  }

  @ParameterizedTest
  @ValueSource(strings = {"holdfastHealthContributor", "holdfastHealthIndicator"})
  void aContributorOfTheApplicationTakesItsPlace(String name) {
    HealthIndicator own = () -> Health.unknown().build();
    contexts
        .withPropertyValues("holdfast.url=memory:")
        .withBean(name, HealthIndicator.class, () -> own)
        .run(context -> assertThat(context).getBean(HealthContributor.class).isSameAs(own));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0s", "-1s"})
  void aTimeoutThatIsNotAboveZeroFailsTheStart(String timeout) {
    for (String more :
        new String[] {"holdfast.options.owner=a", "holdfast.managers.b.url=memory:"}) {
      contexts
          .withPropertyValues("holdfast.url=memory:", "holdfast.health-timeout=" + timeout, more)
          .run(
              context -> {
                FailureAnalysis analysis = Failures.analyze(context);
                assertThat(analysis.getDescription()).startsWith("holdfast.health-timeout is PT");
                assertThat(analysis.getAction()).isEqualTo("Set it to more than zero.");
              });
    }
  }

  @Test
  void healthCanBeSwitchedOff() {
    contexts
        .withPropertyValues("holdfast.url=memory:", "management.health.holdfast.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(HealthContributor.class));
  }
}
