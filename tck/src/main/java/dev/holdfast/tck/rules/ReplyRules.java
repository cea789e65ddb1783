package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockRequest;
import dev.holdfast.LockStatus;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Replies as networks deliver them, and with values that no manager of ours writes. */
public abstract class ReplyRules {
  private static final int AT_ONCE = 8;

  /** Values that look like numbers, like replies, like nothing, or like parts of a protocol. */
  private static final List<String> VALUES =
      List.of(
          "4711",
          "0",
          "1",
          "-1",
          "3.14",
          "9223372036854775808",
          "",
          " ",
          "OK",
          "QUEUED",
          "null",
          "nil",
          "(nil)",
          "true",
          "false",
          "+OK",
          "-ERR no",
          ":1",
          "$-1",
          "*0",
          "\r\n",
          "\0",
          "[]",
          "{}",
          "\u00e4\u20ac\ud83d\ude00",
          "x".repeat(20_000));

  /** Errors of a node that can serve no request for some time, for any owner. */
  private static final List<String> UNABLE =
      List.of(
          "BUSY Redis is busy running a script. You can only call SCRIPT KILL.",
          "MISCONF Redis is configured to save RDB snapshots, but it cannot persist on disk.",
          "NOREPLICAS Not enough good replicas to write.",
          "OOM command not allowed when used memory > 'maxmemory'.",
          "LOADING Redis is loading the dataset in memory",
          "UNHEARD of in this version");

  /** Longer than clients pause before they send a command again. */
  private static final Duration SENT_AGAIN = Duration.ofMillis(400);

  final TckFixture fixture;

  public ReplyRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("FAULT-8")
  @IfThisFails("check that a reply is read to its end, however many packets it comes in")
  void repliesThatComeInPiecesAreAnswers() {
    List<String> uris = NodeProxy.uris(NodeProxy.inPieces(fixture), NodeProxy.LOCAL);
    LockManager locks = fixture.openOn(uris, TckFixture.NO_OUTAGE);
    LockManager contender = fixture.openOn(uris, TckFixture.NO_OUTAGE);

    Retries.anyOf(
        () -> {
          List<String> names = new ArrayList<>();
          List<CompletableFuture<Optional<Lease>>> asked = new ArrayList<>();
          for (int i = 0; i < AT_ONCE; i++) {
            names.add(fixture.name("in-pieces"));
            asked.add(locks.tryAcquireAsync(labelled(names.get(i))));
          }
          for (int i = 0; i < AT_ONCE; i++) {
            Lease lease = Attempts.answered(fixture, asked.get(i)).orElseThrow(AssertionError::new);
            assertThat(lease.name()).isEqualTo(names.get(i));
            assertServed(contender, lease);
          }
        });
  }

  @Test
  @Tag("exclusion")
  @Rule("ERR-6")
  @IfThisFails("check that no error of a node is read as a refusal: no other owner holds the lock")
  void anErrorOfAnyCodeIsNoVote() {
    Needs.nodes(fixture, 1);
    List<TckLink> links = Needs.links(fixture);
    List<String> uris = Needs.uris(links);
    for (Map<String, String> options : fixture.optionSets()) {
      LockManager locks = fixture.openOn(uris, WithoutScripts.texts(options));
      Lease held = OnNodes.take(fixture, locks, fixture.name("held"), fixture.ttl());
      UNABLE.forEach(error -> assertNoVote(error, links, locks, held));
      assertThat(held.isHeld()).as("held though nodes were unable to extend").isTrue();
      links.forEach(TckLink::mend);
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("FAULT-4")
  @IfThisFails("check that no command which a node could not serve is sent again by itself")
  void aCommandThatANodeCouldNotServeIsNotSentBehindItsRelease() {
    Needs.nodes(fixture, 3);
    List<TckLink> links = Needs.links(fixture);
    LockManager locks = fixture.openOn(Needs.uris(links));
    List<TckLink> unable = links.subList(0, fixture.minority().size());
    List<String> names = new ArrayList<>();
    for (String error : UNABLE) {
      unable.forEach(link -> link.refuse(error));
      Lease lease = fixture.take(locks, fixture.name("granted"), fixture.ttl());
      unable.forEach(TckLink::mend);
      TckFixture.regardless(lease::release);
      names.add(lease.name());
    }
    names.forEach(name -> OnNodes.awaitFree(fixture, name));

    assertThat(Attempts.stays(SENT_AGAIN, () -> areFree(names)))
        .as("free after their release, though nodes had replied %s", UNABLE)
        .isTrue();
  }

  private boolean areFree(List<String> names) {
    return names.stream().allMatch(name -> OnNodes.isFree(fixture.nodes(), name));
  }

  private void assertNoVote(String error, List<TckLink> links, LockManager locks, Lease held) {
    links.forEach(link -> link.refuse(error));
    assertThat(catchThrowable(() -> locks.tryAcquire(fixture.request(fixture.name("free")))))
        .as("the end of an attempt at a free lock, to which nodes reply %s", error)
        .isInstanceOf(LockOutageException.class);
    if (fixture.declares(LockCapability.EXTENSION)) {
      assertThat(catchThrowable(() -> held.extend(fixture.ttl())))
          .as("the end of an extension, to which nodes reply %s", error)
          .isInstanceOf(LockOutageException.class);
    }
  }

  private LockRequest labelled(String name) {
    return fixture.request(name).ownerLabel(labelOf(name));
  }

  /** Returns a label as long as one may be, for many pieces. */
  private static String labelOf(String name) {
    return name + "-\u00e4\u20ac".repeat(30);
  }

  private void assertServed(LockManager contender, Lease lease) throws InterruptedException {
    String name = lease.name();
    assertThat(contender.tryAcquire(name, fixture.ttl())).as("a lock that is held").isEmpty();
    if (fixture.declares(LockCapability.INSPECTION)) {
      assertThat(contender.inspect(name).map(LockStatus::ownerLabel)).contains(labelOf(name));
    }
    if (fixture.declares(LockCapability.EXTENSION)) {
      lease.extend(fixture.ttl());
    }
    assertThat(lease.release()).as("released in time").isTrue();
    assertThat(contender.tryAcquire(name, fixture.ttl()).filter(Lease::release)).isPresent();
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-4")
  @IfThisFails(
      "check that a lock is taken by any value that is there, and that no value is decoded")
  void aLockThatHoldsAnyValueIsTaken() throws InterruptedException {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    for (String value : VALUES) {
      String name = occupied(value);
      assertThat(locks.tryAcquire(fixture.request(name)))
          .as("the lease of a lock that holds '%s'", shown(value))
          .isEmpty();
      assertThat(fixture.nodes())
          .as("nodes that keep '%s'", shown(value))
          .allMatch(node -> node.holder(name).equals(Optional.of(value)));
    }
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that inspect shows each lock that is taken, whatever value it holds")
  void aLockThatHoldsAnyValueIsSeen() {
    Needs.of(fixture, LockCapability.INSPECTION);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    for (String value : VALUES) {
      String name = occupied(value);

      Optional<LockStatus> status = locks.inspect(name);

      assertThat(status).as("a lock that holds '%s'", shown(value)).isPresent();
      assertThat(status.get().remaining()).isPositive();
    }
  }

  @Test
  @Rule("INSP-2")
  @IfThisFails("check that forceRelease removes a lock whatever value it holds, and says so")
  void aLockThatHoldsAnyValueIsForcedFree() {
    Needs.of(fixture, LockCapability.FORCE_RELEASE);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    for (String value : VALUES) {
      String name = occupied(value);

      assertThat(locks.forceRelease(name)).as("of '%s'", shown(value)).isTrue();

      OnNodes.awaitFree(fixture, name);
    }
  }

  /** Returns the name of a lock that holds this value on all nodes. */
  private String occupied(String value) {
    String name = fixture.name("value");
    fixture.nodes().forEach(node -> node.occupy(name, value, fixture.foreignTtl()));
    return name;
  }

  private static String shown(String value) {
    return value.length() > 40 ? value.substring(0, 40) + "\u2026" : value;
  }

  @Test
  @Rule("ERR-1")
  @IfThisFails("check that a command whose connection ends has no reply, and not an empty one")
  void anAttemptWhoseConnectionsEndIsAnOutage() {
    Needs.nodes(fixture, 1);
    for (Map<String, String> options : fixture.optionSets()) {
      for (TckLink.Fate fate : List.of(TckLink.Fate.CUT, TckLink.Fate.REPLY_CUT)) {
        List<TckLink> links = Needs.links(fixture);
        List<String> uris = Needs.uris(links);
        LockManager locks = fixture.openOn(uris, WithoutScripts.texts(options));
        Attempts.untilGot(fixture, locks, fixture.name("before"));
        String name = fixture.name("cut");
        links.forEach(link -> link.after(name, 0, fate));

        assertThat(catchThrowable(() -> locks.tryAcquire(name, fixture.ttl())))
            .as("thrown by an attempt on a free lock with %s and %s", fate, options)
            .isInstanceOf(LockOutageException.class);
      }
    }
  }
}
