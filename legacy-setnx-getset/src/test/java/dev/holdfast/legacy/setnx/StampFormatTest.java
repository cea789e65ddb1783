package dev.holdfast.legacy.setnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.legacy.setnx.StampFormat.Unit;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class StampFormatTest {
  private static final StampFormat SECONDS = new StampFormat(Unit.SECONDS, false);
  private static final StampFormat MILLIS = new StampFormat(Unit.MILLIS, false);
  private static final StampFormat FLOAT_SECONDS = new StampFormat(Unit.SECONDS, true);
  private static final StampFormat FLOAT_MILLIS = new StampFormat(Unit.MILLIS, true);

  @Provide
  Arbitrary<StampFormat> formats() {
    return Combinators.combine(
            Arbitraries.of(Unit.SECONDS, Unit.MILLIS), Arbitraries.of(false, true))
        .as(StampFormat::new);
  }

  /** Microseconds from 2001-09-09 to 2286-11-20, less a unit. */
  @Provide
  Arbitrary<Long> times() {
    return Arbitraries.longs().between(1_000_000_000_000_000L, 9_999_999_998_000_000L);
  }

  @Property
  void aWrittenStampIsReadAsItWas(
      @ForAll("formats") StampFormat format, @ForAll("times") long end) {
    Stamp stamp = format.ofHold(end);

    assertThat(format.read(stamp.text())).isEqualTo(stamp);
  }

  @Property
  void aStampIsPastTheEndOfItsHoldByOneUnitAtMost(
      @ForAll("formats") StampFormat format, @ForAll("times") long end) {
    assertThat(format.ofHold(end).micros() - end).isBetween(1L, format.unit().micros());
  }

  @Property
  void noHoldIsSeenExpiredBeforeItsEnd(
      @ForAll("formats") StampFormat format, @ForAll("times") long end) {
    Stamp stamp = format.ofHold(end);

    assertThat(format.isExpired(stamp, end)).isFalse();
    assertThat(StampFormat.hasPassed(stamp, end)).isFalse();
  }

  @Property
  void aStampThatOthersMayTakeHasPassedForItsOwner(
      @ForAll("formats") StampFormat format, @ForAll("times") long end, @ForAll("times") long now) {
    Stamp stamp = format.ofHold(end);

    assertThat(format.isExpired(stamp, now) && !StampFormat.hasPassed(stamp, now)).isFalse();
  }

  @Property
  void aTimeInOneUnitIsNoneInTheOther(@ForAll("times") long end) {
    assertThatThrownBy(() -> SECONDS.read(MILLIS.ofHold(end).text()))
        .isInstanceOf(WrongStamp.class)
        .hasMessage(
            "is a time in milliseconds, but unit=s is set: if all clients write it so, set"
                + " unit=ms");
    assertThatThrownBy(() -> FLOAT_MILLIS.read(FLOAT_SECONDS.ofHold(end).text()))
        .isInstanceOf(WrongStamp.class)
        .hasMessage(
            "is a time in seconds, but unit=ms is set: if all clients write it so, set unit=s");
  }

  @Property
  void textThatIsNoNumberIsNoStamp(
      @ForAll("formats") StampFormat format, @ForAll("texts") String text) {
    assertThatThrownBy(() -> format.read(text))
        .isInstanceOf(WrongStamp.class)
        .hasMessage("is no time stamp");
  }

  @Provide
  Arbitrary<String> texts() {
    Arbitrary<String> any =
        Arbitraries.strings().ofMaxLength(40).filter(text -> !text.matches("[0-9.eE+]+"));
    return Arbitraries.oneOf(
        any,
        Arbitraries.of(
            "",
            "-1800000000",
            " 1800000000",
            "1800000000\n",
            "+1800000000",
            "0x6b49d200",
            "1,800,000,000",
            "١٨٠٠٠٠٠٠٠٠",
            "NaN",
            "Infinity",
            ".5",
            "1e",
            "1800000000s",
            "9".repeat(100),
            "1E999999999"));
  }

  @Example
  void wholeUnitsAreRoundedDownAndOneIsAdded() {
    assertThat(SECONDS.ofHold(1_800_000_010_300_000L))
        .isEqualTo(new Stamp("1800000011", 1_800_000_011_000_000L));
    assertThat(SECONDS.ofHold(1_800_000_010_000_000L).text()).isEqualTo("1800000011");
    assertThat(MILLIS.ofHold(1_800_000_010_300_999L).text()).isEqualTo("1800000010301");
    assertThat(FLOAT_SECONDS.ofHold(1_800_000_010_300_007L).text()).isEqualTo("1800000011.300007");
    assertThat(FLOAT_MILLIS.ofHold(1_800_000_010_300_007L).text()).isEqualTo("1800000010301.007");
  }

  @Example
  void aWholeStampIsOverWhenItIsOlderThanTheCurrentTimeInWholeUnits() {
    Stamp stamp = SECONDS.read("1800000011");

    assertThat(SECONDS.isExpired(stamp, 1_800_000_011_999_999L)).isFalse();
    assertThat(SECONDS.isExpired(stamp, 1_800_000_012_000_000L)).isTrue();
    assertThat(StampFormat.hasPassed(stamp, 1_800_000_010_999_999L)).isFalse();
    assertThat(StampFormat.hasPassed(stamp, 1_800_000_011_000_000L)).isTrue();
  }

  @Example
  void aStampWithAFractionIsOverAtOnce() {
    Stamp stamp = FLOAT_SECONDS.read("1800000011.5");

    assertThat(FLOAT_SECONDS.isExpired(stamp, 1_800_000_011_500_000L)).isFalse();
    assertThat(FLOAT_SECONDS.isExpired(stamp, 1_800_000_011_500_001L)).isTrue();
  }

  @Example
  void floatsAreReadAsLanguagesWriteThem() {
    for (String text : new String[] {"1800000011.25", "1.80000001125E9", "1.80000001125e+09"}) {
      assertThat(FLOAT_SECONDS.read(text).micros()).isEqualTo(1_800_000_011_250_000L);
    }
    assertThat(FLOAT_SECONDS.read("1800000011").micros()).isEqualTo(1_800_000_011_000_000L);
    assertThat(FLOAT_SECONDS.read("1800000011.").micros()).isEqualTo(1_800_000_011_000_000L);
  }

  @Example
  void aFractionOfAMicrosecondIsRoundedUp() {
    assertThat(FLOAT_SECONDS.read("1800000011.0000000001").micros())
        .isEqualTo(1_800_000_011_000_001L);
  }

  @Example
  void aFractionIsNoneWhereWholeNumbersAreSet() {
    assertThatThrownBy(() -> SECONDS.read("1800000011.25"))
        .hasMessage(
            "has a fraction, but number=integer is set: if all clients write it so, set"
                + " number=float");
  }

  @Example
  void otherUnitsAndOtherNumbersAreNamed() {
    assertThatThrownBy(() -> SECONDS.read("1800000011000000"))
        .hasMessage("is a time in microseconds, but unit=s is set");
    assertThatThrownBy(() -> MILLIS.read("1800000011000000000"))
        .hasMessage("is a time in nanoseconds, but unit=ms is set");
    for (String text : new String[] {"0", "1", "42", "999999999", "10000000000", "9".repeat(24)}) {
      assertThatThrownBy(() -> SECONDS.read(text))
          .hasMessage("is a number, but no time from 2001 to 2286");
    }
  }

  @Example
  void aClockThatIsNotSetWritesNoStamp() {
    assertThatThrownBy(() -> SECONDS.ofHold(60_000_000))
        .hasMessage("is no time from 2001 to 2286: set this machine's clock");
  }
}
