package dev.holdfast.legacy.setnx;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The format of a fleet's time stamps.
 *
 * @param unit the unit of their numbers
 * @param floating whether they have a fraction
 */
record StampFormat(Unit unit, boolean floating) {
  /**
   * From September 2001 to November 2286 a time has ten digits of seconds: one unit from another.
   */
  private static final BigDecimal FIRST = BigDecimal.TEN.pow(9);

  private static final BigDecimal END = BigDecimal.TEN.pow(10);

  private static final Pattern WHOLE = Pattern.compile("[0-9]{1,24}");

  /** Some languages write large numbers as {@code 1.7E9}. */
  private static final Pattern FLOATING =
      Pattern.compile("[0-9]{1,24}(?:\\.[0-9]{0,24})?(?:[eE]\\+?[0-9]{1,2})?");

  /** The unit of a time stamp. */
  enum Unit {
    SECONDS("seconds", "s", 0),
    MILLIS("milliseconds", "ms", 3),
    MICROS("microseconds", "", 6),
    NANOS("nanoseconds", "", 9);

    private final String words;
    private final String option;

    /** A second has ten to the power of these. */
    private final int digits;

    Unit(String words, String option, int digits) {
      this.words = words;
      this.option = option;
      this.digits = digits;
    }

    /** Returns the unit in which this number is a time from 2001 to 2286. */
    static Optional<Unit> of(BigDecimal number) {
      return Arrays.stream(values()).filter(unit -> unit.fits(number)).findFirst();
    }

    long micros() {
      return BigDecimal.TEN.pow(6 - digits).longValueExact();
    }

    private boolean fits(BigDecimal number) {
      BigDecimal seconds = number.movePointLeft(digits);
      return seconds.compareTo(FIRST) >= 0 && seconds.compareTo(END) < 0;
    }
  }

  /**
   * Returns the stamp of a hold: the end and one more unit, as on the page of SETNX.
   *
   * @param endMicros when the hold ends
   * @return never before that end
   * @throws WrongStamp if no other client would read it as a time
   */
  Stamp ofHold(long endMicros) {
    String text;
    long micros;
    if (floating) {
      micros = endMicros + unit.micros();
      text = BigDecimal.valueOf(micros, 6).movePointRight(unit.digits).toPlainString();
    } else {
      long units = Math.floorDiv(endMicros, unit.micros()) + 1;
      micros = units * unit.micros();
      text = Long.toString(units);
    }
    if (!unit.fits(new BigDecimal(text))) {
      throw new WrongStamp("is no time from 2001 to 2286: set this machine's clock");
    }
    return new Stamp(text, micros);
  }

  /**
   * Reads a value.
   *
   * @throws WrongStamp if it is no stamp of this format
   */
  Stamp read(String text) {
    boolean whole = WHOLE.matcher(text).matches();
    if (!whole && !FLOATING.matcher(text).matches()) {
      throw new WrongStamp("is no time stamp");
    }
    BigDecimal number = new BigDecimal(text);
    Unit seen =
        Unit.of(number)
            .orElseThrow(() -> new WrongStamp("is a number, but no time from 2001 to 2286"));
    if (seen != unit) {
      throw new WrongStamp(
          "is a time in "
              + seen.words
              + ", but unit="
              + unit.option
              + " is set"
              + (seen.option.isEmpty()
                  ? ""
                  : ": if all clients write it so, set unit=" + seen.option));
    }
    if (!whole && !floating) {
      throw new WrongStamp(
          "has a fraction, but number=integer is set: if all clients write it so, set number=float");
    }
    BigDecimal micros = number.movePointRight(6 - unit.digits).setScale(0, RoundingMode.CEILING);
    return new Stamp(text, micros.longValueExact());
  }

  /**
   * Returns whether the lock of another client is over: its stamp is older than the current time,
   * in whole units where stamps are, as the other clients compare it.
   */
  boolean isExpired(Stamp stamp, long nowMicros) {
    long now = floating ? nowMicros : nowMicros - Math.floorMod(nowMicros, unit.micros());
    return stamp.micros() < now;
  }

  /**
   * Returns whether our own lock may be over for another client. An equal time is over, because
   * clients differ in how they round and whether they treat an equal time as over.
   */
  static boolean hasPassed(Stamp own, long nowMicros) {
    return own.micros() <= nowMicros;
  }
}
