package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.spi.OpenSettings;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Locks on nodes that speak TLS, by each of a manager's connections to them. */
public abstract class TlsNodeRules {
  private static final String NAMED = "localhost";
  private static final OpenSettings TRUSTING =
      OpenSettings.none()
          .trustManagers(
              TestCertificate.trusting(TestCertificate.LOCALHOST, TestCertificate.ELSEWHERE));

  final TckFixture fixture;

  public TlsNodeRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("OPEN-7")
  @IfThisFails("check that each connection uses TLS: also that for notifications, and later ones")
  void locksOfNodesWithTlsAreServedByTlsAlone() {
    List<NodeProxy> proxies = proxies();

    assertServed(proxies, TRUSTING);

    assertThat(seen(proxies))
        .as("connections")
        .contains(NodeProxy.Seen.BY_TLS)
        .doesNotContain(NodeProxy.Seen.IN_THE_CLEAR);
  }

  @Test
  @Rule("OPEN-7")
  @IfThisFails("check that a certificate names the host of the node's URI")
  void aCertificateOfAnotherHostIsRefused() {
    List<NodeProxy> proxies = proxies();
    needsTls(proxies);

    assertRefused(proxies, NodeProxy.LOCAL);
    assertRefused(NodeProxy.byTls(fixture, TestCertificate.ELSEWHERE.ofServer()), NAMED);
  }

  private void assertRefused(List<NodeProxy> proxies, String host) {
    long before = byTls(proxies);
    assertThat(catchThrowable(() -> fixture.openOn(NodeProxy.uris(proxies, host), TRUSTING)))
        .as("opened on nodes of other hosts than %s", host)
        .isInstanceOf(LockException.class);
    assertThat(byTls(proxies) - before)
        .as("connections that sent data to a host that the certificate does not name")
        .isZero();
  }

  @Test
  @Rule("OPEN-7")
  @IfThisFails("check that the dates of a certificate are looked at, as a JDK's trust manager does")
  void aCertificateThatHasExpiredIsRefused() {
    needsTls(proxies());
    List<NodeProxy> expired = NodeProxy.byTls(fixture, TestCertificate.EXPIRED.ofServer());
    OpenSettings settings =
        OpenSettings.none().trustManagers(TestCertificate.trusting(TestCertificate.EXPIRED));

    Throwable thrown =
        catchThrowable(() -> fixture.openOn(NodeProxy.uris(expired, NAMED), settings));

    assertThat(thrown)
        .as("opened on nodes whose certificate has expired")
        .isInstanceOf(LockException.class);
    assertThat(byTls(expired))
        .as("connections that sent data to a node whose certificate has expired")
        .isZero();
  }

  @Test
  @Rule("OPEN-7")
  @IfThisFails("check that each connection compares host and certificate, not the first one alone")
  void aCertificateOfAnotherHostIsRefusedByLaterConnections() {
    List<NodeProxy> proxies = proxies();
    needsTls(proxies);
    LockManager locks = open(proxies, NAMED, TRUSTING);
    Lease lease = OnNodes.take(fixture, locks, fixture.name("held"), fixture.ttl());
    proxies.forEach(proxy -> proxy.show(TestCertificate.ELSEWHERE.ofServer()));
    long before = byTls(proxies);

    CompletableFuture<Optional<Lease>> waiter =
        locks.tryAcquireAsync(fixture.request(lease.name()).waitForever());
    int connections = seen(proxies).size();
    for (int i = 0; i < 5 && seen(proxies).size() == connections; i++) {
      Attempts.stays(() -> true); // a connection for notifications is tried, if there is one
    }
    proxies.forEach(NodeProxy::cut);
    fixture.awaitRegardless(
        "connections are made again",
        () -> seen(proxies).contains(NodeProxy.Seen.REFUSED) || byTls(proxies) > before);
    Attempts.stays(() -> true);
    waiter.cancel(true);

    assertThat(byTls(proxies) - before)
        .as("connections that sent data to a host that the certificate does not name")
        .isZero();
  }

  @Test
  @Rule("DISC-5")
  @IfThisFails("check that each connection shows the certificate of the key managers")
  void theCertificateOfTheKeyManagersIsShownByEachConnection() {
    List<NodeProxy> proxies = proxies();
    needsTls(proxies);
    proxies.forEach(NodeProxy::needCertificates);

    assertServed(proxies, TRUSTING.keyManagers(TestCertificate.ELSEWHERE.keyManagers()));

    assertThat(seen(proxies)).as("connections").doesNotContain(NodeProxy.Seen.WITHOUT_CERTIFICATE);
  }

  @Test
  @Rule("DISC-5")
  @IfThisFails("check that the second connection, for transactions, takes the trust managers too")
  void aUserWithoutScriptsIsServedByTls() {
    Needs.of(fixture, TckFault.NO_SCRIPTS);
    List<NodeProxy> proxies = proxies();
    needsTls(proxies);
    Faults.begin(fixture, TckFault.NO_SCRIPTS, fixture.nodes(), "");
    List<String> uris = NodeProxy.uris(proxies, NAMED);
    LockManager locks =
        fixture.openOn(uris, TRUSTING, WithoutScripts.options(fixture, fixture.uris()));
    Lease lease = takenOnAll(locks, fixture.name("held"));

    if (fixture.declares(LockCapability.EXTENSION)) {
      Retries.anyOf( // the first makes the second connections
          () -> {
            lease.extend(fixture.ttl());
            assertThat(lease.isHeld()).as("held after an extension").isTrue();
          });
    }
    assertThat(lease.release()).as("its release").isTrue();
  }

  /** Uses two managers, with waiters, before and after their connections end. */
  private void assertServed(List<NodeProxy> proxies, OpenSettings settings) {
    LockManager locks = open(proxies, NAMED, settings);
    LockManager waits = open(proxies, NAMED, settings);
    for (int cut = 0; cut < 2; cut++) {
      Lease lease = takenOnAll(locks, fixture.name("held"));
      CompletableFuture<Optional<Lease>> waiter =
          waits.tryAcquireAsync(fixture.request(lease.name()).waitForever());
      Attempts.stays(() -> true); // it is subscribed
      if (fixture.declares(LockCapability.EXTENSION)) {
        TckFixture.regardless(() -> lease.extend(fixture.ttl()));
      }
      TckFixture.regardless(lease::release);
      fixture.awaitRegardless("the waiter gets it", waiter::isDone);
      assertThat(Attempts.answered(fixture, waiter)).as("the waiter's lease").isPresent();
      if (cut == 0) {
        proxies.forEach(NodeProxy::cut);
        Attempts.untilGotAgain(fixture, locks, fixture.name("again"));
        Attempts.untilGotAgain(fixture, waits, fixture.name("again"));
      }
    }
  }

  /** Takes a lock once each node has a connection. */
  private Lease takenOnAll(LockManager locks, String name) {
    try {
      return OnNodes.take(fixture, locks, name, fixture.ttl());
    } catch (AssertionError e) {
      throw new AssertionError("not all nodes with TLS are used", e);
    }
  }

  private List<NodeProxy> proxies() {
    return NodeProxy.byTls(fixture, TestCertificate.LOCALHOST.ofServer(TestCertificate.ELSEWHERE));
  }

  /** Leaves the test out if no lock is granted by TLS, which is another test's. */
  private void needsTls(List<NodeProxy> proxies) {
    try (LockManager locks = open(proxies, NAMED, TRUSTING)) {
      fixture.take(locks, fixture.name("probe"), fixture.ttl()).close();
    } catch (LockException | AssertionError e) {
      IgnoredFailures.add(e);
      AnotherRule.isBroken("no lock is granted on nodes with TLS");
    }
  }

  /** Opens a manager. Leaves the test out if the backend takes no trust managers, and says so. */
  private LockManager open(List<NodeProxy> proxies, String host, OpenSettings settings) {
    List<String> uris = NodeProxy.uris(proxies, host);
    try {
      return fixture.openOn(uris, settings);
    } catch (LockConfigurationException e) {
      if (seen(proxies).isEmpty()) {
        abort("this backend takes no trust managers, or no rediss://, and says so");
      }
      throw e;
    }
  }

  private static long byTls(List<NodeProxy> proxies) {
    return count(proxies, NodeProxy.Seen.BY_TLS);
  }

  private static long count(List<NodeProxy> proxies, NodeProxy.Seen kind) {
    return seen(proxies).stream().filter(kind::equals).count();
  }

  private static List<NodeProxy.Seen> seen(List<NodeProxy> proxies) {
    return proxies.stream().flatMap(proxy -> proxy.seen().stream()).toList();
  }
}
