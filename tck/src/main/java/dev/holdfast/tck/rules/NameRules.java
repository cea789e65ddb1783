package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.tck.Rule;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A name is taken as it is. */
public abstract class NameRules {
  final TckFixture fixture;

  public NameRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("ACQ-7")
  @IfThisFails("check that a name is neither trimmed, folded, normalized, escaped nor cut off")
  void namesThatDifferLockApart() throws InterruptedException {
    List<String> names = SimilarNames.of(fixture.name("name"));
    LockManager[] managers = {fixture.open(), fixture.open()};
    for (int i = 0; i < names.size(); i++) {
      assertThat(fixture.gets(managers[i % 2], names.get(i)))
          .as("'%s' is acquired while similar names are held", names.get(i))
          .isTrue();
    }
  }

  @Test
  @Rule("ACQ-7")
  @IfThisFails("check that a name is sent as it is, also one that is a number")
  void namesOfTheSameNumberLockApart() throws InterruptedException {
    String number = Long.toString(System.nanoTime());
    LockManager[] managers = {fixture.open(), fixture.open()};
    List<String> names =
        List.of(number, "0" + number, "+" + number, "-" + number, number + ".0", number + "e0");
    for (int i = 0; i < names.size(); i++) {
      assertThat(fixture.gets(managers[i % 2], names.get(i)))
          .as("'%s' is acquired while names of the same number are held", names.get(i))
          .isTrue();
    }
  }

  @Test
  @Rule("ACQ-7")
  @IfThisFails("check that a long name is kept whole, and not as its beginning and its end")
  void longNamesThatDifferAnywhereLockApart() throws InterruptedException {
    StringBuilder name = new StringBuilder(fixture.name("long"));
    int beginning = name.length();
    name.append("n".repeat(1024 - beginning));
    LockManager[] managers = {fixture.open(), fixture.open()};
    for (int place = beginning; place < name.length(); place += 61) {
      name.setCharAt(place, 'x');

      assertThat(fixture.gets(managers[place % 2], name.toString()))
          .as("acquired while names are held that differ in character %d", place)
          .isTrue();
      name.setCharAt(place, 'n');
    }
  }

  @Test
  @Rule("ACQ-7")
  @IfThisFails("check that a key is not cut, which is longer than its name by a prefix")
  void longNamesLockApartWithAPrefix() throws InterruptedException {
    String name = fixture.name("prefixed");
    String longest = name + "n".repeat(1023 - name.length());
    LockManager locks = Needs.option(fixture, "keyPrefix", "p".repeat(100) + ":");
    for (String end : List.of("1", "2")) {
      assertThat(fixture.gets(locks, longest + end))
          .as("acquired while a name is held that ends otherwise")
          .isTrue();
    }
  }

  @Test
  @Rule("ACQ-7")
  @IfThisFails(
      "check that a name whose key is one of the backend's own keys is refused as a mistake")
  void theKeysBesideALockAreNoLocks() throws InterruptedException {
    Needs.nodes(fixture, 1);
    LockManager locks = fixture.open();
    String name = fixture.name("counted");
    Attempts.release(fixture, fixture.take(locks, name, fixture.ttl()));

    for (String own : List.of("holdfast:fence:" + name, "holdfast:" + name)) {
      Optional<Lease> lease;
      try {
        lease = locks.tryAcquire(own, fixture.ttl());
      } catch (LockConfigurationException e) {
        continue; // where these are keys of its own
      }
      assertThat(lease).as("the free lock '%s'", own).isPresent();
    }
  }

  @Test
  @Rule("ACQ-7")
  @IfThisFails("check that prefix and name together are compared with holdfast:")
  void anOwnKeyMadeOfPrefixAndNameIsRefused() {
    Needs.plainUris(fixture);
    String name = fixture.name("counted");
    LockManager locks = Needs.option(fixture, "keyPrefix", "hold");
    LockManager others = Needs.option(fixture, "keyPrefix", "app:");

    for (String own : List.of("fast:fence:" + name, "fast:" + name)) {
      assertThat(catchThrowable(() -> locks.tryAcquire(own, fixture.ttl())))
          .as("the exception for '%s' with the prefix 'hold'", own)
          .isInstanceOf(LockConfigurationException.class);
    }
    assertThat(fixture.take(others, "holdfast:" + name, fixture.ttl()).isHeld())
        .as("held with the prefix 'app:': holdfast:%s", name)
        .isTrue();
  }

  @Test
  @Rule("ACQ-7")
  @IfThisFails("check that names of any bytes, and of up to 1 KiB, are locked like others")
  void namesThatLookLikeSomethingElseAreLockedAndReturnedUnchanged() throws InterruptedException {
    LockManager locks = fixture.open();
    LockManager other = fixture.open();
    String base = fixture.name("odd");
    for (String name :
        List.of(
            " " + base + " ",
            base + "\u0000\r\n\t*{}[]\"\\ \u2603",
            "\r\n$3\r\nDEL\r\n" + base,
            base + "\u007f\u0080\u00ff\uffff",
            "\ufeff" + base,
            base + "\ud83d\udd12",
            base + "n".repeat(1024 - base.length()),
            base + "\u20ac".repeat((1024 - base.length()) / 3),
            base + "\ud83d\udd12".repeat((1024 - base.length()) / 4),
            base + "x" + "\ud83d\udd12".repeat((1023 - base.length()) / 4))) {
      assertThat(fixture.take(locks, name, fixture.ttl()).name()).isEqualTo(name);
      if (!fixture.nodes().isEmpty()) {
        fixture
            .soon()
            .untilAsserted(
                () ->
                    assertThat(fixture.nodes())
                        .as("nodes that keep '%s' under its UTF-8", name)
                        .anyMatch(node -> node.holder(name).isPresent()));
      }
      assertThat(fixture.gets(other, name)).as("'%s' is granted to another, too", name).isFalse();
    }
  }

  @Test
  @Rule("ACQ-7")
  @IfThisFails("check that a lock is kept under its whole name, not under a hash of it")
  void namesWithEqualHashesLockApart() throws InterruptedException {
    LockManager locks = fixture.open();
    for (LockManager other : List.of(locks, fixture.open())) {
      for (EqualHashes equal : EqualHashes.values()) {
        if (equal.isKeptByWhatFollows()) {
          assertApart(locks, other, equal, "", fixture.name("hashed"));
          assertApart(locks, other, equal, fixture.name("n".repeat(200)), "");
        } else if (other != locks) {
          assertApart(locks, other, equal, "", "");
        }
      }
    }
  }

  private void assertApart(
      LockManager locks, LockManager other, EqualHashes equal, String before, String after)
      throws InterruptedException {
    assertThat(fixture.gets(locks, before + equal.one() + after)).as("a lock is acquired").isTrue();
    assertThat(fixture.gets(other, before + equal.other() + after))
        .as("got while a lock is held whose name has the same %s", equal)
        .isTrue();
  }

  /** Two names that differ and have the same hash. */
  enum EqualHashes {
    HASH_CODE("tAa", "tBB"),
    CRC_32("vcamjp4w", "tauv6rrz"),
    CRC_32C("zgkfik95", "kv5rgj67"),
    CRC_16("t1v85cqr", "e3n3pkwq"),
    ADLER_32("ydoiq2cc", "exbeatt1"),
    FNV_1A("4w53dapf", "p4ruj00q"),
    FNV_1("r98ocepi", "6moh98y3"),
    TIMES_33_PLUS("hq5ous4i", "geoyofbw"),
    TIMES_33_XOR("u4aqotc9", "3up3jksg"),
    SDBM("jf18f69o", "fz0muqnj"),
    MURMUR_3("asxpt4nr", "r8wah61z"),
    FIRST_INT_OF_MD5("tck-9smls2fr", "tck-fdwjhf3c"),
    LAST_INT_OF_MD5("tck-3epl2jfd", "tck-eyn36ax8"),
    FIRST_INT_OF_SHA_1("tck-ano3otf7", "tck-y3wducm0"),
    LAST_INT_OF_SHA_1("tck-ser06nf1", "tck-grgwz1pn"),
    FIRST_INT_OF_SHA_256("tck-3earjogr", "tck-wcwwqxr5"),
    LAST_INT_OF_SHA_256("tck-ir1quu3e", "tck-z431hkrq");

    private final String one;
    private final String other;

    EqualHashes(String one, String other) {
      this.one = one;
      this.other = other;
    }

    String one() {
      return one;
    }

    String other() {
      return other;
    }

    /** Returns whether the hashes stay equal when the same text is added to both names. */
    boolean isKeptByWhatFollows() {
      return !name().contains("_INT_OF_");
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }
}
