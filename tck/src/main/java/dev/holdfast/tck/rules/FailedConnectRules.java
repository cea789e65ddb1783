package dev.holdfast.tck.rules;

import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Nodes cannot be connected to: nothing is left of the attempts, by threads and connections. */
public abstract class FailedConnectRules {
  /** Less patient than a test may be, because the kit waits for it many times. */
  private static final String[] IMPATIENT = {"connectTimeout=50ms", "nodeTimeout=50ms"};

  final TckFixture fixture;

  public FailedConnectRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Alone
  @Rule("CLOSE-4")
  @IfThisFails("check that the threads of a connection whose log-in is refused end")
  void noThreadIsLeftOfManagersWhoseLogInIsRefused() {
    fixture.needsNodes(1);
    List<String> uris = fixture.uris();
    uris.replaceAll(uri -> uri.replaceAll("://([^@/,]*@)?", "://nobody:wrong@"));

    requireNothingLeft("managers whose log-in was refused", uris);
  }

  @Test
  @Alone
  @Rule("CLOSE-4")
  @IfThisFails("check that opening closes all that it made if it fails for want of a quorum")
  void noThreadAndNoConnectionIsLeftOfManagersWithoutAQuorum() {
    fixture.needs(TckFault.DEAD);
    fixture.needsConnections();
    int before = fixture.connections();
    fixture.begin(TckFault.DEAD, fixture.blocking(), "");

    requireNothingLeft("managers without a quorum", fixture.uris());

    fixture.end(TckFault.DEAD, fixture.blocking(), "");
    fixture
        .soon()
        .until(
            "no connection was left", () -> Attempts.stays(() -> fixture.connections() <= before));
  }

  @Test
  @Alone
  @Rule("CLOSE-4")
  @IfThisFails("check that the threads of a connection that a node does not answer end")
  void noThreadIsLeftOfManagersWhoseNodesHang() {
    fixture.needs(TckFault.FROZEN);
    fixture.needsNodeOptions();
    fixture.begin(TckFault.FROZEN, fixture.nodes(), "");

    requireNothingLeft("managers whose nodes hang", fixture.uris());
  }

  private void requireNothingLeft(String managers, List<String> uris) {
    Threads.requireFewLeft(
        fixture,
        managers + " left fewer threads than that",
        () -> {
          openAndClose(uris);
          if (fixture.environment().hasNodeOptions()) {
            openAndClose(uris, "connect=lazy");
          }
        });
  }

  /** Opens a manager, asks for a lock if that succeeds, and closes it. */
  private void openAndClose(List<String> uris, String... options) {
    try (LockManager locks = fixture.openOn(uris, impatient(options))) {
      TckFixture.regardless(() -> locks.tryAcquire(fixture.name("attempt"), fixture.ttl()));
    } catch (LockException failed) {
      IgnoredFailures.add(failed);
    }
  }

  private static String[] impatient(String... options) {
    return Stream.concat(Arrays.stream(IMPATIENT), Arrays.stream(options)).toArray(String[]::new);
  }
}
