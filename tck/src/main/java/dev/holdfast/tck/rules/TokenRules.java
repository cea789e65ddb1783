package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckLink;
import dev.holdfast.tck.env.TckNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The next owner's token is nearly the one before it: it begins with it, or differs in case. */
public abstract class TokenRules {
  /** Labels that are patterns, of which the next owner's label is an instance. */
  private static final List<String> PATTERNS =
      List.of("*", "?", "[a-z]", ".*", ".", "%", "_", "%a");

  /** The longest labels, of characters of one byte and of three. */
  private static final List<String> LONGEST = List.of("n".repeat(256), "\u20ac".repeat(85) + "n");

  final TckFixture fixture;

  public TokenRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that all of the token is compared, byte for byte, whichever call releases")
  void aReleaseSparesATokenThatIsAlmostItsOwn() {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    for (ReleaseCall call : ReleaseCall.values()) {
      for (Alike alike : Alike.values()) {
        Lease lease = OnNodes.take(fixture, locks, fixture.name("alike"), fixture.ttl());
        overtaken(lease, alike.of(lease.token()))
            .ifPresent(
                next -> {
                  TckFixture.regardless(() -> call.on(lease));

                  assertSpared(lease, next, call + " beside a token that " + alike);
                });
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that a token is no pattern, for whatever labels hold")
  void aReleaseSparesATokenThatItsOwnWouldMatch() {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    for (String label : PATTERNS) {
      LockRequest request = fixture.request(fixture.name("pattern")).ownerLabel(label);
      Lease lease = OnNodes.take(fixture, locks, request);
      Optional<String> matching =
          Optional.of(lease.token())
              .filter(token -> token.startsWith(label))
              .map(token -> "a" + token.substring(label.length()));
      overtaken(lease, matching)
          .ifPresent(
              next -> {
                TckFixture.regardless(lease::release);

                assertSpared(lease, next, "a release by an owner called " + label);
              });
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails(
      "check that the token is compared as a whole before a time to live is shortened, too")
  void aReleaseThatShortensSparesATokenThatIsAlmostItsOwn() {
    Needs.of(fixture, LockCapability.HOLD_AT_LEAST);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    for (Alike alike : Alike.values()) {
      LockRequest request =
          fixture.request(fixture.name("alike")).holdAtLeast(fixture.ttl().dividedBy(2));
      Lease lease = OnNodes.take(fixture, locks, request);
      overtaken(lease, alike.of(lease.token()))
          .ifPresent(
              next -> {
                TckFixture.regardless(lease::release);

                assertSpared(lease, next, "a release beside a token that " + alike);
              });
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check what removes the key of a lease that has expired: all of the token counts")
  void theEndOfALeaseSparesATokenThatIsAlmostItsOwn() {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.openForShortTtl();
    Map<Lease, String> next = new LinkedHashMap<>();
    for (Alike alike : Alike.values()) {
      Lease lease = fixture.take(locks, fixture.name("alike"), fixture.briefTtl());
      overtaken(lease, alike.of(lease.token())).ifPresent(token -> next.put(lease, token));
    }
    next.keySet().forEach(fixture::awaitOver);

    Attempts.stays(() -> true);

    next.forEach((lease, token) -> assertSpared(lease, token, "the end of the lease before"));
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that a release that is sent once more compares all of the token as well")
  void aReleaseThatIsSentOnceMoreSparesATokenThatIsAlmostItsOwn() {
    Needs.nodes(fixture, 3);
    TckNode node = fixture.node(0);
    TckLink link = Needs.link(fixture, node);
    LockManager locks = openBehind(link);
    for (Alike alike : Alike.FEW) {
      Attempts.needsVote(fixture, locks, node);
      String name = fixture.name("owed");
      Lease lease = fixture.take(locks, name, fixture.ttl());
      link.after(name, 0, TckLink.Fate.LOST);
      TckFixture.regardless(lease::release);
      link.cut();
      int before = link.requests(name).size();
      String next = alike.of(lease.token()).orElseThrow();
      node.occupy(name, next, fixture.foreignTtl());
      link.mend();
      fixture.awaitRegardless("it is sent once more", () -> link.requests(name).size() > before);
      Attempts.needsVote(fixture, locks, node);

      assertSpared(List.of(node), name, next, "a release beside a token that " + alike);
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-4")
  @IfThisFails("check that what takes a failed attempt back compares all of its token")
  void theReleaseOfAFailedAttemptSparesATokenThatIsAlmostItsOwn() throws InterruptedException {
    Needs.nodes(fixture, 3);
    TckNode node = fixture.node(0);
    TckLink link = Needs.link(fixture, node);
    LockManager locks = openBehind(link, "nodeTimeout=200ms");
    for (Alike alike : Alike.FEW) {
      Attempts.needsVote(fixture, locks, node);
      String name = fixture.name("failed");
      OnNodes.occupy(fixture, fixture.nodesBut(List.of(node)), name);
      link.after(name, 1, TckLink.Fate.LOST);
      Attempts.refused(fixture, locks, name);
      link.cut();
      int before = link.requests(name).size();
      Optional<String> next = node.holder(name).flatMap(alike::of);
      if (next.isEmpty()) {
        abort("nothing is left of the attempt, so there is nothing to release");
      }
      node.occupy(name, next.get(), fixture.foreignTtl());
      link.mend();
      fixture.awaitRegardless("it is sent once more", () -> link.requests(name).size() > before);
      Attempts.needsVote(fixture, locks, node);

      assertSpared(List.of(node), name, next.get(), "a failed attempt with a token that " + alike);
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that an extension compares all of the token, byte for byte")
  void anExtensionSparesATokenThatIsAlmostItsOwn() {
    Needs.nodes(fixture, 1);
    Duration foreign = fixture.ttl().dividedBy(3);
    LockManager locks = fixture.open();
    for (boolean waiting : new boolean[] {true, false}) {
      for (Alike alike : Alike.values()) {
        Lease lease = OnNodes.take(fixture, locks, fixture.name("alike"), fixture.ttl());
        Optional<String> next = alike.of(lease.token());
        if (next.isEmpty()) {
          continue;
        }
        fixture.nodes().forEach(node -> node.occupy(lease.name(), next.get(), foreign));

        assertThat(isExtended(lease, waiting))
            .as("extended where there is a token that %s", alike)
            .isFalse();
        assertThat(fixture.nodes())
            .as("nodes after an extension beside a token that %s", alike)
            .allSatisfy(
                node -> {
                  assertThat(node.holder(lease.name())).isEqualTo(next);
                  assertThat(node.timeToLive(lease.name())).isLessThanOrEqualTo(foreign);
                });
      }
    }
  }

  @Test
  @Rule("INSP-1")
  @IfThisFails("check that nodes agree on an owner by all of its token, not by its label")
  void nodesWithATokenThatIsAlmostTheOwnersDoNotAgree() {
    Needs.nodes(fixture, 3);
    LockManager locks = fixture.open();
    for (Alike alike : Alike.values()) {
      Lease lease = OnNodes.take(fixture, locks, fixture.name("alike"), fixture.ttl());
      alike
          .of(lease.token())
          .ifPresent(
              other -> {
                fixture
                    .minority()
                    .forEach(node -> node.occupy(lease.name(), other, fixture.foreignTtl()));

                assertThat(locks.inspect(lease.name()))
                    .as("seen where a minority has a token that %s", alike)
                    .hasValueSatisfying(
                        status -> assertThat(status.votes().granted()).isEqualTo(fixture.quorum()));
              });
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("ACQ-5")
  @IfThisFails("check that the nodes keep all of a token, however long its label is")
  void theTokensOfTheLongestLabelDifferOnEachNode() {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    for (String label : LONGEST) {
      LockRequest request = fixture.request(fixture.name("long")).ownerLabel(label);
      Set<String> seen = new HashSet<>();
      for (int i = 1; i <= 3; i++) {
        fixture.take(locks, request);
        seen.addAll(holders(request.name()));
        remove(request.name());

        assertThat(seen).as("tokens of grants to %s", label).hasSizeGreaterThanOrEqualTo(i);
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("REL-1")
  @IfThisFails("check that a release sends all of its token, however long its label is")
  void aReleaseSparesTheNextOwnerWithTheSameLongestLabel() throws InterruptedException {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    for (String label : LONGEST) {
      for (ReleaseCall call : ReleaseCall.values()) {
        for (boolean isKept : keptOrNot()) {
          LockRequest plain = fixture.request(fixture.name("long")).ownerLabel(label);
          Lease before =
              overtakenByTheSame(
                  locks, isKept ? plain.holdAtLeast(fixture.ttl().dividedBy(2)) : plain);

          TckFixture.regardless(() -> call.on(before));

          assertThat(fixture.gets(locks, before.name()))
              .as("granted to a third owner after %s beside an owner of the same label", call)
              .isFalse();
          assertThat(fixture.nodes().stream().filter(node -> isLong(node, before.name())))
              .as("nodes that keep the next owner's lock for its time")
              .hasSizeGreaterThanOrEqualTo(fixture.quorum());
        }
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("EXT-1")
  @IfThisFails("check that an extension sends all of its token, however long its label is")
  void anExtensionSparesTheNextOwnerWithTheSameLongestLabel() {
    Needs.of(fixture, LockCapability.EXTENSION);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    for (String label : LONGEST) {
      for (boolean waiting : new boolean[] {true, false}) {
        LockRequest request = fixture.request(fixture.name("long")).ownerLabel(label);
        Lease before = overtakenByTheSame(locks, request);

        assertThat(isExtended(before, waiting))
            .as("extended where another owner has the lock, called %s as well", label)
            .isFalse();
      }
    }
  }

  @Test
  @Tag("exclusion")
  @Rule("TRANSFER-4")
  @IfThisFails("check that an adoption sends all of the transferred token, however long it is")
  void theLockOfTheNextOwnerWithTheSameLongestLabelIsNotAdopted() {
    Needs.of(fixture, LockCapability.TRANSFER);
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    for (String label : LONGEST) {
      for (Adopting adopting : Adopting.values()) {
        LockRequest request = fixture.request(fixture.name("long")).ownerLabel(label);
        Lease before = fixture.take(locks, request);
        String text = TransferredLock.text(fixture, before, fixture.ttl());
        remove(request.name());
        fixture.take(locks, request);

        assertThat(catchThrowable(() -> adopting.adopt(fixture, locks, text, request)))
            .as("exception of %s where another owner has the lock", adopting)
            .isNotNull();
      }
    }
  }

  private List<Boolean> keptOrNot() {
    return fixture.declares(LockCapability.HOLD_AT_LEAST) ? List.of(false, true) : List.of(false);
  }

  /** Takes a lock, and lets another owner of the same label take it for longer. */
  private Lease overtakenByTheSame(LockManager locks, LockRequest request) {
    Lease before = fixture.take(locks, request);
    remove(request.name());
    LockRequest next =
        LockRequest.of(request.name(), fixture.foreignTtl())
            .ownerLabel(request.ownerLabel().orElseThrow());
    fixture.take(locks, next);
    return before;
  }

  /** Removes a lock from all nodes. Leaves the test out where there is a second lock elsewhere. */
  private void remove(String name) {
    Needs.oneLock(fixture);
    fixture.nodes().forEach(node -> node.remove(name));
  }

  private boolean isLong(TckNode node, String name) {
    return node.timeToLive(name).compareTo(fixture.ttl()) > 0;
  }

  private List<String> holders(String name) {
    return fixture.nodes().stream().flatMap(node -> node.holder(name).stream()).toList();
  }

  /** A likeness of two tokens that are not the same. */
  enum Alike {
    BEGINS_WITH_IT,
    IS_ITS_BEGINNING,
    ENDS_WITH_IT,
    IS_ITS_END,
    HOLDS_IT,
    DIFFERS_IN_THE_LAST_CHARACTER,
    DIFFERS_IN_THE_FIRST_CHARACTER,
    DIFFERS_IN_THE_MIDDLE,
    DIFFERS_AFTER_THE_LABEL,
    IS_ITS_LABEL,
    IS_UPPER_CASE,
    IS_LOWER_CASE,
    HAS_A_SPACE_AFTER_IT,
    HAS_A_SPACE_BEFORE_IT,
    HAS_A_ZERO_BYTE_AFTER_IT,
    HAS_TWO_CHARACTERS_SWAPPED,
    HAS_THE_SAME_HASH_CODE,
    IS_BACKWARDS;

    /** The changes for operations that take some time each. */
    static final List<Alike> FEW =
        List.of(BEGINS_WITH_IT, IS_ITS_BEGINNING, IS_UPPER_CASE, DIFFERS_AFTER_THE_LABEL);

    /** Returns the changed token, or empty if the change leaves the same token or an empty one. */
    Optional<String> of(String token) {
      return Optional.of(changed(token)).filter(other -> !other.isEmpty() && !other.equals(token));
    }

    private String changed(String token) {
      int last = token.length() - 1;
      int middle = token.length() / 2;
      return switch (this) {
        case BEGINS_WITH_IT -> token + "0";
        case IS_ITS_BEGINNING -> token.substring(0, last);
        case ENDS_WITH_IT -> "0" + token;
        case IS_ITS_END -> token.substring(1);
        case HOLDS_IT -> "0" + token + "0";
        case DIFFERS_IN_THE_LAST_CHARACTER -> token.substring(0, last) + other(token.charAt(last));
        case DIFFERS_IN_THE_FIRST_CHARACTER -> other(token.charAt(0)) + token.substring(1);
        case DIFFERS_IN_THE_MIDDLE ->
            token.substring(0, middle) + other(token.charAt(middle)) + token.substring(middle + 1);
        case DIFFERS_AFTER_THE_LABEL -> withAnotherEnd(token);
        case IS_ITS_LABEL -> token.substring(0, Math.max(0, token.lastIndexOf(':')));
        case IS_UPPER_CASE -> token.toUpperCase(Locale.ROOT);
        case IS_LOWER_CASE -> token.toLowerCase(Locale.ROOT);
        case HAS_A_SPACE_AFTER_IT -> token + " ";
        case HAS_A_SPACE_BEFORE_IT -> " " + token;
        case HAS_A_ZERO_BYTE_AFTER_IT -> token + "\u0000";
        case HAS_TWO_CHARACTERS_SWAPPED -> withTwoSwapped(token);
        case HAS_THE_SAME_HASH_CODE -> withTheSameHashCode(token);
        case IS_BACKWARDS -> new StringBuilder(token).reverse().toString();
      };
    }

    private static char other(char character) {
      return character == '1' ? '2' : '1';
    }

    /** Returns a token with another second half after the last colon. */
    private static String withAnotherEnd(String token) {
      int from = (token.lastIndexOf(':') + 1 + token.length()) / 2;
      StringBuilder changed = new StringBuilder(token);
      for (int i = from; i < token.length(); i++) {
        changed.setCharAt(i, other(token.charAt(i)));
      }
      return changed.toString();
    }

    private static String withTwoSwapped(String token) {
      for (int i = token.length() - 1; i > 0; i--) {
        if (token.charAt(i) != token.charAt(i - 1)) {
          return new StringBuilder(token)
              .replace(i - 1, i + 1, "" + token.charAt(i) + token.charAt(i - 1))
              .toString();
        }
      }
      return token;
    }

    /** Returns a token in which one character is larger by 1 and the next one is smaller by 31. */
    private static String withTheSameHashCode(String token) {
      for (int i = 1; i < token.length(); i++) {
        if (token.charAt(i) >= 'A') {
          return new StringBuilder(token)
              .replace(
                  i - 1,
                  i + 1,
                  "" + (char) (token.charAt(i - 1) + 1) + (char) (token.charAt(i) - 31))
              .toString();
        }
      }
      return token;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  /** Gives a lock to the next owner, on all nodes. */
  private Optional<String> overtaken(Lease lease, Optional<String> next) {
    next.ifPresent(
        token ->
            fixture
                .nodes()
                .forEach(node -> node.occupy(lease.name(), token, fixture.foreignTtl())));
    return next;
  }

  private void assertSpared(Lease lease, String next, String what) {
    assertSpared(fixture.nodes(), lease.name(), next, what);
  }

  private void assertSpared(List<TckNode> nodes, String name, String next, String what) {
    List<String> changed = new ArrayList<>();
    for (TckNode node : nodes) {
      if (!node.holder(name).equals(Optional.of(next))
          || node.timeToLive(name).compareTo(fixture.ttl()) <= 0) {
        changed.add(node.address());
      }
    }
    assertThat(changed)
        .as("nodes on which the next owner's lock was changed by %s", what)
        .isEmpty();
  }

  private boolean isExtended(Lease lease, boolean waiting) {
    try {
      if (waiting) {
        lease.extend(fixture.ttl());
        return true;
      }
      return fixture
          .soon()
          .get(
              "an extension ends",
              lease.extendAsync(fixture.ttl()).handle((done, failure) -> failure == null));
    } catch (LockException | IllegalStateException e) {
      return false;
    }
  }

  /** Opens a manager that reaches the first node by a link. */
  private LockManager openBehind(TckLink link, String... options) {
    List<String> uris = fixture.uris();
    uris.set(0, link.uri());
    return fixture.openOn(uris, options);
  }
}
