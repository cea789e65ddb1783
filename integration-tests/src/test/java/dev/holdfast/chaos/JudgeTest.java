package dev.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The judge on short histories: a right one passes, and each mistake is found. */
class JudgeTest {
  private static final long LONG_AGO = millis(-10_000);

  private final Judge judge = new Judge();

  /** A client had the lock from one time to another, and released it. */
  private void held(String token, long fence, long from, long to) {
    got(token, fence, from, to + 50);
    judge.hear(new Entry.Ending(token, millis(to), true));
    judge.hear(new Entry.Released(token, millis(to + 1)));
  }

  private void got(String token, long fence, long from, long until) {
    judge.hear(new Entry.Got("client", "job", fence, token, millis(from), millis(until)));
  }

  private void wrote(long fence, long read) {
    judge.hear(new Entry.Wrote("job", fence, read));
  }

  private static long millis(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  @Test
  @DisplayName("one after the other is right")
  void oneAfterTheOtherIsRight() {
    held("a", 1, 0, 100);
    wrote(1, 0);
    held("b", 2, 100, 200);
    wrote(2, 1);
    judge.hear(new Entry.Seen("node", "job", "b", millis(99), millis(250)));

    assertThat(judge.verdict().wrong()).isEmpty();
    assertThat(judge.verdict().grants()).isEqualTo(2);
    assertThat(judge.verdict().writes()).isEqualTo(2);
  }

  @Test
  @DisplayName("a lease ends earlier when the wall clock of its client is set forward")
  void aLeaseEndsEarlierWhenTheClockOfItsClientIsSetForward() {
    got("a", 1, 0, 100);
    judge.hear(new Entry.ClockSet("client", millis(10), millis(50)));
    held("b", 2, 50, 60);

    assertThat(judge.verdict().wrong()).isEmpty();
  }

  @Test
  @DisplayName("a client whose clock is set forward still believes in its lease until the new end")
  void aLeaseIsHeldUntilItsNewEnd() {
    got("a", 1, 0, 100);
    judge.hear(new Entry.ClockSet("client", millis(10), millis(50)));
    held("b", 2, 49, 60);

    assertThat(judge.verdict().wrong()).containsOnlyKeys("overlaps");
  }

  @Test
  @DisplayName("no lease ends earlier because a clock is set back, or that of another client")
  void otherClocksEndNoLease() {
    got("a", 1, 0, 100);
    judge.hear(new Entry.ClockSet("client", millis(10), millis(-50)));
    judge.hear(new Entry.ClockSet("other", millis(10), millis(50)));
    held("b", 2, 99, 110);

    assertThat(judge.verdict().wrong()).containsOnlyKeys("overlaps");
  }

  @Test
  @DisplayName("an end that was seen after the clock was set counts as it was seen")
  void anEndThatWasSeenAfterTheClockWasSetCounts() {
    got("a", 1, 0, 100);
    judge.hear(new Entry.ClockSet("client", millis(10), millis(50)));
    judge.hear(new Entry.Held("a", millis(20), millis(80)));
    held("b", 2, 79, 90);

    assertThat(judge.verdict().wrong()).containsOnlyKeys("overlaps");
  }

  @Test
  @DisplayName("two that believe in their leases at once are an overlap")
  void twoAtOnceAreAnOverlap() {
    held("a", 1, 0, 100);
    held("b", 2, 99, 200);

    assertThat(judge.verdict().wrong()).containsOnlyKeys("overlaps");
    assertThat(judge.verdict().overlaps()).hasSize(1);
  }

  @Test
  @DisplayName("a client that stood still believes until its validity ends, and no longer")
  void aClientThatStoodStillBelievesUntilItsValidityEnds() {
    got("a", 1, 0, 100);
    judge.hear(new Entry.Ending("a", millis(5_000), false));
    held("b", 2, 101, 200);

    assertThat(judge.verdict().overlaps()).isEmpty();
  }

  @Test
  @DisplayName("a client that does not look at the end of its validity is found")
  void aClientThatIgnoresItsEndIsFound() {
    got("a", 1, 0, 100);
    judge.hear(new Entry.Ending("a", millis(5_000), true));
    held("b", 2, 101, 200);

    assertThat(judge.verdict().overlaps()).hasSize(1);
  }

  @Test
  @DisplayName("a renewal prolongs belief")
  void aRenewalProlongsBelief() {
    got("a", 1, 0, 100);
    judge.hear(new Entry.Held("a", millis(90), millis(190)));
    held("b", 2, 150, 200);

    assertThat(judge.verdict().overlaps()).hasSize(1);
  }

  @Test
  @DisplayName("a short lease inside of a long one is an overlap, and so is the next one")
  void aShortLeaseInsideOfALongOne() {
    held("a", 1, 0, 1_000);
    held("b", 2, 100, 200);
    held("c", 3, 300, 400);

    assertThat(judge.verdict().overlaps()).hasSize(2);
  }

  @Test
  @DisplayName("a token that is not larger than the one before is a regression")
  void aTokenThatIsNotLargerIsARegression() {
    held("a", 2, 0, 100);
    held("b", 2, 100, 200);
    held("c", 1, 200, 300);

    assertThat(judge.verdict().wrong()).containsOnlyKeys("token regressions");
    assertThat(judge.verdict().regressions()).hasSize(2);
  }

  @Test
  @DisplayName("a write that comes late is refused, and loses nothing")
  void aLateWriteIsRefused() {
    got("a", 1, 0, 100);
    held("b", 2, 101, 200);
    wrote(2, 0);
    wrote(1, 0);
    held("c", 3, 201, 300);
    wrote(3, 1);

    assertThat(judge.verdict().wrong()).isEmpty();
    assertThat(judge.verdict().refused()).isEqualTo(1);
  }

  @Test
  @DisplayName("two holders with the same token lose an update")
  void withOneTokenBetweenThemAnUpdateIsLost() {
    held("a", 1, 0, 100);
    held("b", 1, 50, 200);
    wrote(1, 0);
    wrote(1, 0);

    assertThat(judge.verdict().lostUpdates()).hasSize(1);
  }

  @Test
  @DisplayName("a key that stays after its release is an orphan")
  void aKeyThatStaysIsAnOrphan() {
    held("a", 1, 0, 100);
    judge.hear(new Entry.Seen("node", "job", "a", millis(0), millis(602)));

    assertThat(judge.verdict().wrong()).containsOnlyKeys("orphans");
  }

  @Test
  @DisplayName("so is one of an attempt that failed, when its time is over")
  void aKeyOfAnAttemptThatFailedIsAnOrphan() {
    judge.hear(new Entry.Seen("node", "job", "nobody's", millis(0), millis(1_500)));
    assertThat(judge.verdict().orphans()).isEmpty();

    judge.hear(new Entry.Seen("another", "job", "nobody's", millis(0), millis(1_501)));
    assertThat(judge.verdict().orphans()).hasSize(1);
  }

  @Test
  @DisplayName("after a fault a key may stay for the longest ttl, and no longer")
  void afterAFaultAKeyMayStayForTheLongestTtl() {
    trouble(0, 200, 200);
    held("a", 1, 0, 100);
    held("b", 2, 101, 300);
    judge.hear(new Entry.Seen("node", "job", "a", millis(0), millis(2_600)));
    assertThat(judge.verdict().orphans()).isEmpty();

    judge.hear(new Entry.Seen("another", "job", "a", millis(0), millis(2_701)));
    assertThat(judge.verdict().orphans()).hasSize(1);
  }

  private void trouble(long began, long healed, long voting) {
    judge.hear(new Entry.Began("FROZEN", "[0]", millis(began)));
    judge.hear(new Entry.Healed(millis(healed)));
    judge.hear(new Entry.Voting(millis(voting), 0));
  }

  @Test
  @DisplayName("the next grant after healing may take the longest ttl and a second")
  void theNextGrantMayTakeTheLongestTtlAndASecond() {
    trouble(0, 100, LONG_AGO);
    held("a", 1, 3_100, 3_200);
    assertThat(judge.verdict().wrong()).isEmpty();
    assertThat(judge.verdict().recovery()).isEqualTo(Duration.ofSeconds(3));

    trouble(4_000, 4_100, LONG_AGO);
    held("b", 2, 7_101, 7_200);
    assertThat(judge.verdict().wrong()).containsOnlyKeys("late recoveries");
  }

  @Test
  @DisplayName("or a second after the end of quarantines")
  void orASecondAfterTheEndOfQuarantines() {
    trouble(0, 100, 5_000);
    held("a", 1, 6_000, 6_100);

    assertThat(judge.verdict().wrong()).isEmpty();
    assertThat(judge.verdict().recovery()).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  @DisplayName("a lock that is never granted again is a recovery that is late")
  void aLockThatIsNeverGrantedAgainIsLate() {
    held("a", 1, 0, 50);
    trouble(60, 100, LONG_AGO);

    assertThat(judge.verdict().late()).hasSize(1);
  }

  @Test
  @DisplayName("one of a thousand calls may take longer than its limit")
  void oneOfAThousandCallsMayTakeLonger() {
    for (int i = 0; i < 999; i++) {
      judge.hear(new Entry.Called("release", 0));
    }
    judge.hear(new Entry.Called("release", millis(51)));
    assertThat(judge.verdict().wrong()).isEmpty();
    assertThat(judge.verdict().longestOverrun()).isEqualTo(Duration.ofMillis(51));

    judge.hear(new Entry.Called("release", millis(51)));
    assertThat(judge.verdict().wrong()).containsOnlyKeys("p99.9 of overrun");
  }

  @Test
  @DisplayName("a journal is read as it was written, line by line")
  void aJournalIsReadAsItWasWritten(@TempDir Path folder) {
    Path path = folder.resolve("journal");
    Entry first = new Entry.Got("client", "job", 7, "host:1:abc", -5, 6);
    Entry second = new Entry.Ending("host:1:abc", 3, true);
    List<Entry> read = new ArrayList<>();
    try (Journal journal = Journal.at(path);
        Journal.Reader reader = new Journal.Reader(path)) {
      journal.append(first);
      reader.read(line -> read.add(Entry.parse(line)));
      journal.append(second);
      reader.read(line -> read.add(Entry.parse(line)));
    }

    assertThat(read).isEqualTo(List.of(first, second));
    assertThatThrownBy(() -> Entry.parse("Gone\t1")).isInstanceOf(IllegalArgumentException.class);
  }
}
