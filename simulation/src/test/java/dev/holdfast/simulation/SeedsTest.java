package dev.holdfast.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The code that ships, in faulty histories. A seed that fails is shown by simulate --replay. */
class SeedsTest {
  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  @DisplayName("no invariant is broken in hundreds of histories, of all profiles; CI runs 20,000")
  void noInvariantIsBroken() {
    requireAllHold(1, Integer.getInteger("holdfast.seeds", 500));
  }

  @Test
  @DisplayName("an attempt that a pause made slow may go on for as long as a quorum is waited for")
  void aSlowAttemptAfterAPauseBreaksNoInvariant() {
    assertThat(Run.of(10_182_257, Profile.FENCES).violation()).isNull();
  }

  @Test
  @DisplayName("an attempt whose wall clock was ahead for a while may be given up earlier")
  void anAttemptUnderAWallClockThatIsSetBreaksNoInvariant() {
    assertThat(Run.of(11_171_358, Profile.FENCED_ROUNDS).violation()).isNull();
  }

  @Test
  @DisplayName("a pending release that overtakes its own release is not taken for all of it")
  void aPendingReleaseThatOvertakesBreaksNoInvariant() {
    assertThat(Run.of(11_763_558, Profile.FENCED_ROUNDS).violation()).isNull();
    assertThat(Run.of(12_636_443, Profile.GUARDED_ROUNDS).violation()).isNull();
  }

  @Test
  @DisplayName("a release that waited for all connections is counted from its call")
  void aReleaseThatWaitedForConnectionsBreaksNoInvariant() {
    assertThat(Run.of(17_190, Profile.TRANSFERS).violation()).isNull();
  }

  @Test
  @Tag("soak")
  @Timeout(value = 12, unit = TimeUnit.HOURS)
  @DisplayName("no invariant is broken in 5,000,000 histories, of all profiles")
  void noInvariantIsBrokenInManyMore() {
    requireAllHold(1_000_000, 5_000_000);
  }

  @Test
  @Tag("slow")
  @DisplayName("the same seed gives the same trace, in every profile; another seed, another one")
  void theSameSeedGivesTheSameTrace() {
    for (Profile profile : Profile.values()) {
      List<Long> once = hashes(profile);
      assertThat(hashes(profile)).as(profile.label()).isEqualTo(once);
      assertThat(once).as(profile.label()).doesNotHaveDuplicates();
    }
  }

  @Test
  @Tag("slow")
  @DisplayName("every profile lets locks be granted")
  void everyProfileGrantsLocks() {
    for (Profile profile : Profile.values()) {
      long grants = 0;
      for (long seed = 0; seed < 20 && grants <= 200; seed++) { // fewer runs are enough for most
        grants += Run.of(seed, profile).grants();
      }
      assertThat(grants).as(profile.label()).isGreaterThan(200);
    }
  }

  @Test
  @DisplayName("clocks that are apart make second trips for fencing tokens")
  void someGrantsNeedSecondTrips() {
    long trips =
        LongStream.range(0, 50).map(seed -> Run.of(seed, Profile.FENCES).secondTrips()).sum();
    assertThat(trips).isGreaterThan(100);
  }

  @Test
  @DisplayName("one run of five is without fencing")
  void someRunsAreWithoutFencing() {
    long without =
        LongStream.range(0, 1_000)
            .filter(seed -> !Setting.drawn(new SplittableRandom(seed), Profile.CALM).fencing())
            .count();
    assertThat(without).isBetween(150L, 250L);
  }

  @Test
  @DisplayName(
      "the restart guard is on in most runs, and in none of those that show what is without it")
  void mostRunsHaveTheGuard() {
    assertThat(guarded(Profile.CALM)).isBetween(600L, 800L);
    assertThat(guarded(Profile.GUARDED)).isEqualTo(1_000);
    assertThat(guarded(Profile.DATA_LOSS) + guarded(Profile.DELAYED_RESTARTS)).isZero();
  }

  @Test
  @DisplayName("nodes that lose their data at once make two owners without the restart guard")
  void lostDataMakesTwoOwners() {
    assertThat(LongStream.range(0, 50).map(seed -> Run.of(seed, Profile.DATA_LOSS).excused()))
        .anyMatch(overlaps -> overlaps > 0);
  }

  @Test
  @DisplayName(
      "a hold outlasts a node that lost its data and votes again, but not a quorum of them")
  void holdsOutlastQuarantines() {
    List<Run.Result> runs =
        LongStream.range(0, 60).mapToObj(seed -> Run.of(seed, Profile.LONG_HOLDS)).toList();
    assertThat(runs.stream().mapToLong(Run.Result::holdsKept).sum()).isGreaterThan(20);
    assertThat(runs.stream().mapToLong(Run.Result::holdsCut).sum()).isPositive();
  }

  private static long guarded(Profile profile) {
    return LongStream.range(0, 1_000)
        .filter(seed -> Setting.drawn(new SplittableRandom(seed), profile).guard())
        .count();
  }

  private static List<Long> hashes(Profile profile) {
    return LongStream.range(0, 12).mapToObj(seed -> Run.of(seed, profile).hash()).toList();
  }

  /** Runs seeds on as many threads as there are cores: a run shares nothing with another. */
  private static void requireAllHold(long from, long seeds) {
    LongStream.range(from, from + seeds)
        .parallel()
        .mapToObj(seed -> Run.of(seed, Simulate.profileOf(seed, Profile.values())))
        .filter(result -> result.violation() != null)
        .findFirst()
        .ifPresent(
            result ->
                fail(
                    "simulation/simulate --replay %s --profile %s: %s",
                    result.seed(), result.profile().label(), result.violation()));
  }
}
