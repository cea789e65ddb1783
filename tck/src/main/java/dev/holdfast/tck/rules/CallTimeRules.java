package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The longest time of each call while nodes are silent. All calls are made at the same time. */
public abstract class CallTimeRules {
  /** Longer than a machine stalls, so that a call which takes it twice is distinguished. */
  private static final Duration LIMIT = Duration.ofMillis(900);

  private static final Duration WAIT = Duration.ofMillis(150);

  /** The time that {@code acquire} may take to find the label of the holder. */
  private static final Duration FOR_A_LABEL = Duration.ofMillis(100);

  final TckFixture fixture;

  public CallTimeRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("FAULT-9")
  @IfThisFails("check that the rounds of one call share its time, and that none is made again")
  void noCallTakesLongerThanTheTableSaysWhileNoQuorumAnswers() {
    needsSilence(1);
    Retries.anyOf(
        () -> {
          LockManager locks =
              fixture.open("nodeTimeout=100ms", "quorumTimeout=" + LIMIT.toMillis() + "ms");
          assertInTime(locks, fixture.blocking());
        });
  }

  @Test
  @Rule("FAULT-2")
  @IfThisFails("check that a call waits for stragglers once, however many rounds it makes")
  void noCallWaitsForASilentMinorityTwice() {
    needsSilence(3);
    Retries.anyOf(
        () -> {
          LockManager locks =
              fixture.open("nodeTimeout=" + LIMIT.toMillis() + "ms", TckFixture.NO_OUTAGE);
          assertInTime(locks, fixture.minority());
        });
  }

  private void needsSilence(int nodes) {
    Needs.of(fixture, TckFault.FROZEN);
    Needs.nodeOptions(fixture);
    Needs.nodes(fixture, nodes);
  }

  private void assertInTime(LockManager locks, List<TckNode> silent) throws Exception {
    Map<String, Eventually.Assertions> calls = new LinkedHashMap<>();
    addRequests(locks, calls);
    addCallsOfLeases(locks, calls);
    addCallsOfOperators(locks, calls);
    Map<String, Call<?>> begun = new LinkedHashMap<>();
    try (Stalls stalls = Stalls.watched()) {
      Faults.whileFrozen(
          fixture,
          silent,
          () -> {
            calls.forEach((what, call) -> begun.put(what, Call.begin(() -> done(call))));
            begun.values().forEach(call -> call.awaited(fixture));
          });
      Duration longest =
          LIMIT.plus(WAIT).plus(FOR_A_LABEL).plus(fixture.allowance()).plus(stalls.worst());
      begun.forEach(
          (what, call) -> assertThat(call.took()).as("the time of %s", what).isLessThan(longest));
    }
  }

  private static boolean done(Eventually.Assertions call) {
    TckFixture.regardless(call);
    return true;
  }

  private void addRequests(LockManager locks, Map<String, Eventually.Assertions> calls) {
    for (Asking way : Asking.values()) {
      for (Duration wait : List.of(Duration.ZERO, WAIT)) {
        LockRequest request = fixture.request(fixture.name("asked")).waitAtMost(wait);
        calls.put(way + " with a wait of " + wait, () -> way.ask(locks, request));
      }
    }
  }

  private void addCallsOfLeases(LockManager locks, Map<String, Eventually.Assertions> calls) {
    Map<String, Consumer<Lease>> ofLease = new LinkedHashMap<>();
    ofLease.put("release", Lease::release);
    ofLease.put("releaseAsync", lease -> lease.releaseAsync().join());
    ofLease.put("close", Lease::close);
    if (fixture.declares(LockCapability.EXTENSION)) {
      ofLease.put("extend", lease -> lease.extend(fixture.ttl()));
      ofLease.put("extendAsync", lease -> lease.extendAsync(fixture.ttl()).join());
    }
    if (fixture.declares(LockCapability.TRANSFER)) {
      ofLease.put("transfer", lease -> lease.transfer(fixture.ttl()));
      for (Adopting way : Adopting.values()) {
        Lease former = fixture.take(locks, fixture.name("adopted"), fixture.ttl());
        String text = TransferredLock.text(fixture, former, fixture.ttl());
        LockRequest request = fixture.request(former.name());
        calls.put(way.toString(), () -> way.adopt(fixture, locks, text, request));
      }
    }
    ofLease.forEach(
        (what, call) -> {
          Lease lease = fixture.take(locks, fixture.name("held"), fixture.ttl());
          calls.put(what, () -> call.accept(lease));
        });
  }

  private void addCallsOfOperators(LockManager locks, Map<String, Eventually.Assertions> calls) {
    calls.put("ping", () -> locks.ping(LIMIT));
    List<String> names = new ArrayList<>(List.of(fixture.name("free")));
    if (fixture.declares(LockCapability.INSPECTION)) {
      names.add(fixture.take(locks, fixture.name("inspected"), fixture.ttl()).name());
      names.forEach(name -> calls.put("inspect " + name, () -> locks.inspect(name)));
    }
    if (fixture.declares(LockCapability.FORCE_RELEASE)) {
      names.add(fixture.take(locks, fixture.name("forced"), fixture.ttl()).name());
      names.forEach(name -> calls.put("forceRelease " + name, () -> locks.forceRelease(name)));
    }
  }
}
