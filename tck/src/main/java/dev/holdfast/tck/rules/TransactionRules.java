package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The locks of a user who may run no scripts change by transactions. Links hold back each request
 * of an operation in turn on all nodes, so that the lock changes between comparing and acting: a
 * transaction that was aborted for this has done nothing.
 */
@Tag("exclusion")
public abstract class TransactionRules {
  final TckFixture fixture;

  public TransactionRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  /** An operation, and what it does. */
  private interface Scene {
    /** Makes ready, and returns the operation, which tells whether it was done. */
    Callable<Boolean> prepared(LockManager locks, String name) throws Exception;

    /** Returns whether a node has carried out the operation. */
    boolean isDone(TckNode node, String name);
  }

  @Test
  @Rule("EXT-1")
  @IfThisFails("check that nil, the reply to a transaction that was aborted, is not taken as done")
  void anExtensionThatWasAbortedIsNotSaidToBeDone() throws Exception {
    Needs.of(fixture, LockCapability.EXTENSION);
    neverSaidToBeDoneBefore(
        new Extending(), (node, name) -> node.occupy(name, OnNodes.occupant(node), ttl()));
  }

  @Test
  @Rule("EXT-1")
  @IfThisFails("check that a transaction that was aborted is begun again, or fails")
  void anExtensionThatIsSaidToBeDoneHasLengthenedTheLock() throws Exception {
    Needs.of(fixture, LockCapability.EXTENSION);
    Extending extending = new Extending();
    neverSaidToBeDoneBefore(extending, (node, name) -> node.occupy(name, extending.token, ttl()));
  }

  @Test
  @Rule("REL-3")
  @IfThisFails("check that nil, the reply to a transaction that was aborted, is not taken as done")
  void aReleaseThatWasAbortedIsNotSaidToBeInTime() throws Exception {
    neverSaidToBeDoneBefore(
        new Scene() {
          @Override
          public Callable<Boolean> prepared(LockManager locks, String name) {
            return OnNodes.take(fixture, locks, name, fixture.ttl())::release;
          }

          @Override
          public boolean isDone(TckNode node, String name) {
            return node.holder(name).isEmpty();
          }
        },
        (node, name) -> OnNodes.occupy(fixture, List.of(node), name));
  }

  @Test
  @Rule("TRANSFER-4")
  @IfThisFails("check that nil, the reply to a transaction that was aborted, is not taken as done")
  void anAdoptionThatWasAbortedIsNoGrant() throws Exception {
    Needs.of(fixture, LockCapability.TRANSFER);
    neverSaidToBeDoneBefore(
        new Scene() {
          private String transferred = "";

          @Override
          public Callable<Boolean> prepared(LockManager locks, String name) {
            Lease lease = OnNodes.take(fixture, locks, name, fixture.ttl());
            String text = TransferredLock.text(fixture, lease, fixture.ttl());
            transferred = lease.token();
            return () -> locks.adopt(text, fixture.request(name)).isHeld();
          }

          @Override
          public boolean isDone(TckNode node, String name) {
            return node.holder(name)
                .filter(holder -> !holder.equals(transferred))
                .filter(holder -> !holder.equals(OnNodes.occupant(node)))
                .isPresent();
          }
        },
        (node, name) -> OnNodes.occupy(fixture, List.of(node), name));
  }

  private final class Extending implements Scene {
    private String token = "";

    @Override
    public Callable<Boolean> prepared(LockManager locks, String name) {
      Lease lease = OnNodes.take(fixture, locks, name, ttl());
      token = lease.token();
      return () -> {
        lease.extend(fixture.ttl());
        return true;
      };
    }

    @Override
    public boolean isDone(TckNode node, String name) {
      return node.holder(name).filter(token::equals).isPresent()
          && node.timeToLive(name).compareTo(ttl()) > 0;
    }
  }

  /** Returns a ttl that is shorter than the one of the extension. */
  private Duration ttl() {
    return fixture.ttl().dividedBy(3);
  }

  /**
   * Requires of an operation that says that it was done that a quorum of nodes has done it, before
   * the lock changed there or after that.
   */
  private void neverSaidToBeDoneBefore(Scene scene, BiConsumer<TckNode, String> change)
      throws Exception {
    Needs.of(fixture, TckFault.NO_SCRIPTS);
    List<TckLink> links = new ArrayList<>();
    fixture.nodes().forEach(node -> links.add(Needs.link(fixture, node)));
    Faults.begin(fixture, TckFault.NO_SCRIPTS, fixture.nodes(), "");
    LockManager locks = WithoutScripts.opened(fixture, Needs.uris(links));
    for (int passing = 0; passing < Steps.MAX; passing++) {
      String name = fixture.name("step-" + passing);
      Callable<Boolean> operation = scene.prepared(locks, name);
      awaitAsked(links, name);
      int passed = passing;
      List<Integer> held = links.stream().map(link -> requests(link, name) + passed).toList();
      links.forEach(link -> link.after(name, passed, TckLink.Fate.LATE));
      Call<Boolean> call = Call.begin(operation);
      if (!Steps.comes(fixture, call, () -> areHeld(links, name, held))) {
        Steps.needsOne(passing);
        return;
      }
      done(scene, name); // a node that answers has executed all earlier requests
      long before = done(scene, name);
      fixture.nodes().forEach(node -> change.accept(node, name));
      links.forEach(TckLink::mend);

      boolean isSaid = call.awaited(fixture).result().orElse(false);
      assertThat(
              !isSaid
                  || before >= fixture.quorum()
                  || Attempts.comes(() -> done(scene, name) >= fixture.quorum()))
          .as("a quorum has done what is said to be done, held back at request %d", passing + 1)
          .isTrue();
    }
  }

  /** Waits until all nodes were asked what a quorum has answered. */
  private void awaitAsked(List<TckLink> links, String name) {
    fixture.awaitRegardless(
        "all nodes were asked alike",
        () -> links.stream().map(link -> requests(link, name)).distinct().count() == 1);
  }

  private static boolean areHeld(List<TckLink> links, String name, List<Integer> held) {
    for (int i = 0; i < links.size(); i++) {
      if (requests(links.get(i), name) <= held.get(i)) {
        return false;
      }
    }
    return true;
  }

  private static int requests(TckLink link, String name) {
    return link.requests(name).size();
  }

  private long done(Scene scene, String name) {
    return fixture.nodes().stream().filter(node -> scene.isDone(node, name)).count();
  }
}
