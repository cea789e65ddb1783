package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.core.ScriptedBackend.Op;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The events in the flight recorder, read from a recording with the settings of docs. */
class FlightTest {
  private static final Path SETTINGS = Path.of("../docs/holdfast.jfc");
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final LockRequest REQUEST = LockRequest.of("x", TTL);

  @TempDir Path folder;

  private final ManualTime time = new ManualTime();
  private final ScriptedBackend backend = new ScriptedBackend(time);
  private final LockManager manager = ScriptedBackend.manager(backend, time).build();

  @Test
  void requestsLeasesLossesAndNodesAreRecorded() throws Exception {
    try (Recording recording = new Recording(Configuration.create(SETTINGS))) {
      recording.start();
      useLocks();
      recording.stop();
      Path file = folder.resolve("events.jfr");
      recording.dump(file);

      assertThat(events(file, "Acquire"))
          .extracting(event -> event.getString("name") + " " + event.getString("outcome"))
          .containsExactlyInAnyOrder(
              "x GRANTED", "x CONTENDED", "y GRANTED", "t GRANTED", "u GRANTED", "z OUTAGE");
      assertThat(events(file, "Hold"))
          .extracting(event -> event.getString("name") + " " + event.getString("outcome"))
          .containsExactlyInAnyOrder("x RELEASED", "y LOST", "t TRANSFERRED", "u UNCONFIRMED");
      assertThat(events(file, "Hold").get(0).getEventType().getField("outcome").getDescription())
          .isEqualTo("RELEASED, UNCONFIRMED, TRANSFERRED or LOST");
      assertThat(events(file, "Lost"))
          .extracting(
              event ->
                  event.getString("name")
                      + " "
                      + event.getString("reason")
                      + " "
                      + event.getDuration("held"))
          .containsExactly("y EXPIRED PT30S");
      assertThat(events(file, "NodeDown"))
          .extracting(event -> event.getString("node") + " " + event.getString("cause"))
          .containsExactly("backend no quorum");
    }
  }

  @Test
  void lossesOfLeasesThatAreOlderThanTheRecordingAreRecorded() throws Exception {
    manager.acquire("expired", TTL);
    Lease removed = manager.acquire("removed", TTL);
    Lease released = manager.acquire("released", TTL);
    try (LockListener.Registration listening = manager.addListener(new LockListener() {})) {
      assertThat(listening).isNotNull();
      manager.acquire("listened", TTL);
    }
    try (Recording recording = new Recording(Configuration.create(SETTINGS))) {
      recording.start();
      time.advance(Duration.ofSeconds(5));
      assertThat(manager.forceRelease("removed")).isTrue();
      assertThat(removed.release()).isFalse();
      assertThat(released.release()).isTrue();
      time.advance(TTL);
      recording.stop();
      Path file = folder.resolve("losses.jfr");
      recording.dump(file);

      assertThat(events(file, "Lost"))
          .extracting(
              event ->
                  event.getString("name")
                      + " "
                      + event.getLong("leaseId")
                      + " "
                      + event.getString("reason")
                      + " "
                      + event.getDuration("held"))
          .containsExactlyInAnyOrder(
              "removed 0 REMOVED PT5S", "expired 0 EXPIRED PT30S", "listened 1 EXPIRED PT30S");
      assertThat(events(file, "Hold")).isEmpty();
    }
  }

  @Test
  void aNodeThatTwoManagersObserveGoesDownOnce() throws Exception {
    SingleNode node = new SingleNode("h1", time);
    node.observe(new NodeEvents(new Listeners(time), time));
    node.observe(new NodeEvents(new Listeners(time), time));
    try (Recording recording = new Recording(Configuration.create(SETTINGS))) {
      recording.start();
      node.onPinged(false);
      recording.stop();
      Path file = folder.resolve("nodes.jfr");
      recording.dump(file);

      assertThat(events(file, "NodeDown")).hasSize(1);
    }
  }

  @Test
  void withoutARecordingNothingIsReported() throws Exception {
    assertThat(new Listeners(time).isActive()).isFalse();
    try (Recording recording = new Recording()) {
      recording.enable("dev.holdfast.Lost");
      recording.start();
      assertThat(new Listeners(time).isActive()).isTrue();
    }
    assertThat(new Listeners(time).isActive()).isFalse();
  }

  private void useLocks() throws Exception {
    Lease lease = manager.acquire(REQUEST);
    assertThat(manager.tryAcquire(REQUEST)).isEmpty();
    assertThat(lease.release()).isTrue();
    manager.acquire("y", TTL);
    time.advance(TTL);
    assertThat(manager.acquire("t", TTL).transfer(TTL)).isNotEmpty();
    Lease unconfirmed = manager.acquire("u", TTL);
    backend.failing(Op.RELEASE, new LockOutageException("no quorum", Map.of(), true));
    assertThatThrownBy(unconfirmed::release).isInstanceOf(LockOutageException.class);
    backend.failing(Op.ATTEMPT, new LockOutageException("no quorum", Map.of(), false));
    assertThatThrownBy(() -> manager.tryAcquire("z", TTL)).isInstanceOf(LockOutageException.class);
  }

  private static List<RecordedEvent> events(Path file, String type) throws Exception {
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().equals("dev.holdfast." + type))
        .toList();
  }
}
