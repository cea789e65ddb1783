package dev.holdfast.tck.rules;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.LockNode;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.tck.env.TckLink;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Passwords stay secret. */
public abstract class SecretRules {
  private static final String[] TIMEOUTS = {
    "connectTimeout=300ms", "nodeTimeout=300ms", "quorumTimeout=500ms"
  };

  final TckFixture fixture;

  /** Not the same for all, because what is logged may come from other tests. */
  private final String secret;

  public SecretRules(TckFixture fixture) {
    this.fixture = fixture;
    this.secret = fixture.name("hunter2");
  }

  @Test
  @Rule("ERR-3")
  @IfThisFails("check messages, causes, logs and toString for the userinfo of a node's URI")
  void aPasswordOfANodeIsNeverShown() {
    Needs.nodes(fixture, 1);
    for (String user : List.of("app", "")) {
      List<String> uris = withPassword(user, fixture.uris());
      try (Logs logs = Logs.keptWhole()) {
        assertHidden(() -> shown(fixture.openOn(uris)));
        assertHidden(() -> shown(fixture.openOn(uris, "retryDelya=1s")));
        assertHidden(() -> shown(fixture.openOn(byTls(uris), impatient())));
        if (Faults.areKnown(fixture, TckFault.DEAD)) {
          Faults.begin(fixture, TckFault.DEAD, fixture.blocking(), "");
          assertHidden(() -> shown(fixture.openOn(uris, impatient())));
          assertHidden(() -> shown(fixture.openOn(uris, impatient("connect=lazy"))));
          Faults.end(TckFault.DEAD, fixture.blocking(), "");
        }
        assertThat(logs.lines()).noneMatch(line -> line.contains(secret));
      }
    }
  }

  @Test
  @Rule("ERR-3")
  @IfThisFails("check that errors about a URL show it by LockUrl, which hides what may be secret")
  void aPasswordInAUrlIsNeverShown() {
    String url = withPassword("app", List.of(ByUrl.needed(fixture))).get(0);
    try (Logs logs = Logs.keptWhole()) {
      assertHidden(() -> openAndClose(url, Map.of("retryDelya", "1s")));
      assertHidden(() -> openAndClose(url.replace("@", "@["), Map.of()));
      assertHidden(() -> openAndClose(url, Map.of("retryDelay", "soon")));
      assertThat(logs.lines()).noneMatch(line -> line.contains(secret));
    }
  }

  @Test
  @Rule("ERR-3")
  @IfThisFails("check what a connection says whose login ends or fails, whatever the reason")
  void aPasswordIsNotShownByALoginThatFails() {
    Needs.plainUris(fixture);
    List<TckLink> links = Needs.links(fixture);
    List<String> uris = withPassword("app", Needs.uris(links));
    List<Consumer<TckLink>> failures =
        List.of(
            TckLink::cut,
            link -> link.refuse("ERR max number of clients reached"),
            link -> link.refuse("LOADING Redis is loading the dataset in memory"));
    for (Consumer<TckLink> failure : failures) {
      links.forEach(failure);
      assertHiddenByOpening(uris);
      links.forEach(TckLink::mend);
    }
  }

  @Test
  @Rule("ERR-3")
  @IfThisFails("check what a connection says whose login is not answered")
  void aPasswordIsNotShownByALoginThatIsNotAnswered() {
    Needs.plainUris(fixture);
    Needs.of(fixture, TckFault.FROZEN);
    Faults.begin(fixture, TckFault.FROZEN, fixture.nodes(), "");

    assertHiddenByOpening(withPassword("app", fixture.uris()));
  }

  @Test
  @Rule("ERR-3")
  @IfThisFails("check what nodes(), onNode and failed futures say of nodes that are down")
  void aPasswordIsNotShownOfNodesThatAreDown() {
    Needs.of(fixture, TckFault.DEAD);
    List<String> uris = OnNodes.urisWithLogin(fixture);
    Set<String> passwords = uris.stream().flatMap(SecretRules::passwords).collect(toSet());
    LockManager locks = fixture.openOn(uris, impatient());
    List<String> said = new CopyOnWriteArrayList<>();
    fixture.atEnd(locks.addListener(new Said(said))::close);
    Lease held = fixture.take(locks, fixture.name("held"), fixture.ttl());
    Faults.begin(fixture, TckFault.DEAD, fixture.nodes(), "");

    CompletableFuture<?> asked = locks.tryAcquireAsync(fixture.request(fixture.name("asked")));
    CompletableFuture<?> released = held.releaseAsync();
    fixture.awaitRegardless("the calls are over", () -> asked.isDone() && released.isDone());
    fixture.awaitRegardless("the listener learns of it", () -> !said.isEmpty());

    assertThat(said).noneMatch(text -> passwords.stream().anyMatch(text::contains));
    assertThat(locks.nodes().toString()).doesNotContain(passwords);
    assertHidden(passwords, () -> asked.getNow(null));
    assertHidden(passwords, () -> released.getNow(null));
  }

  /** Keeps all texts that a listener gets. */
  private record Said(List<String> said) implements LockListener {
    @Override
    public void onNode(String node, LockNode.State state, String cause) {
      said.add(node + " " + cause);
    }

    @Override
    public void onVote(String node, Vote vote) {
      said.add(node);
    }
  }

  /** Asserts that neither errors nor the log show the secret when managers are opened. */
  private void assertHiddenByOpening(List<String> uris) {
    try (Logs logs = Logs.keptWhole()) {
      assertHidden(() -> shown(fixture.openOn(uris, impatient())));
      if (fixture.environment().hasNodeOptions()) {
        assertHidden(() -> shown(fixture.openOn(uris, impatient("connect=lazy"))));
      }
      assertThat(logs.lines()).noneMatch(line -> line.contains(secret));
    }
  }

  @Test
  @Rule("ERR-3")
  @IfThisFails("check logs and names of threads when connections are made, and made again")
  void thePasswordOfAUserWhoLogsInIsNeverShown() {
    Needs.of(fixture, TckFault.CUT);
    List<String> uris = OnNodes.urisWithLogin(fixture);
    Set<String> passwords = uris.stream().flatMap(SecretRules::passwords).collect(toSet());
    try (Logs logs = Logs.keptWhole()) {
      LockManager holder = fixture.openOn(uris);
      LockManager waits = fixture.openOn(uris, Waited.PATIENT);
      Waited waited = Waited.begin(fixture, holder, waits, fixture.name("waited-for"));
      for (int cut = 0; cut < 3; cut++) {
        for (LockManager locks : List.of(holder, waits)) {
          fixture.nodes().forEach(node -> Attempts.needsVote(fixture, locks, node));
        }
        Faults.begin(fixture, TckFault.CUT, fixture.nodes(), "");
      }
      if (Faults.areKnown(fixture, TckFault.DEAD)) {
        Faults.begin(fixture, TckFault.DEAD, fixture.blocking(), "");
        assertHidden(passwords, () -> holder.tryAcquire(fixture.name("dead"), fixture.ttl()));
        Faults.end(TckFault.DEAD, fixture.blocking(), "");
        fixture.nodes().forEach(node -> Attempts.needsVote(fixture, holder, node));
      }
      assertThat(Threads.ofThisTest())
          .extracting(Thread::getName)
          .as("names of threads")
          .noneMatch(name -> passwords.stream().anyMatch(name::contains));
      waited.cancel();
      holder.close();
      waits.close();

      assertThat(logs.lines()).noneMatch(line -> passwords.stream().anyMatch(line::contains));
      assertThat(holder + " " + holder.nodes()).doesNotContain(passwords);
    }
  }

  /** Returns these options and short timeouts. */
  private static String[] impatient(String... options) {
    return Stream.concat(Stream.of(options), Stream.of(TIMEOUTS)).toArray(String[]::new);
  }

  /** Returns URIs for TLS, which nodes without TLS, and drivers without it, refuse. */
  private static List<String> byTls(List<String> uris) {
    return uris.stream().map(uri -> uri.replaceFirst("^redis:", "rediss:")).toList();
  }

  /** Returns the password of a node's URI, as it is and as the URI has it. */
  private static Stream<String> passwords(String uri) {
    URI node = URI.create(uri);
    return Stream.of(node.getUserInfo(), node.getRawUserInfo())
        .map(login -> login.substring(login.indexOf(':') + 1));
  }

  private List<String> withPassword(String user, List<String> uris) {
    List<String> changed = new ArrayList<>();
    for (String uri : uris) {
      if (!uri.contains("://")) {
        abort("this environment's URL has no place for a password");
      }
      changed.add(uri.replaceAll("://([^@/,]*@)?", "://" + user + ":" + secret + "@"));
    }
    return changed;
  }

  private void openAndClose(String url, Map<String, String> options) {
    LockManager locks = LockManager.open(url, options);
    fixture.atEnd(locks::close);
  }

  private void shown(LockManager locks) throws InterruptedException {
    assertThat(locks.toString()).doesNotContain(secret);
    locks.tryAcquire(fixture.name("shown"), fixture.ttl());
  }

  private void assertHidden(ThrowingCallable call) {
    assertHidden(Set.of(secret), call);
  }

  private static void assertHidden(Set<String> secrets, ThrowingCallable call) {
    Throwable thrown = catchThrowable(call);
    if (thrown != null) {
      StringWriter trace = new StringWriter();
      thrown.printStackTrace(new PrintWriter(trace));
      assertThat(trace.toString()).doesNotContain(secrets);
    }
  }
}
