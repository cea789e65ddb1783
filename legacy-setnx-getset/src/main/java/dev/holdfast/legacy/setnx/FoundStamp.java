package dev.holdfast.legacy.setnx;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.holdfast.legacy.setnx.StampFormat.Unit;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A value that looks like the time stamp of an old lock.
 *
 * @param key its bytes, which may be no text, as characters of ISO 8859-1
 * @param value the value of the key
 * @param unit {@code s} or {@code ms}, as in a {@code setnx:} URL
 * @param number {@code integer} or {@code float}, as in a {@code setnx:} URL
 * @param passes the time in the value
 * @param seen the time by the server's clock at which, or shortly after which, it was read
 * @param ttl the time until the server removes it, or empty if the server never does
 */
public record FoundStamp(
    String key,
    String value,
    String unit,
    String number,
    Instant passes,
    Instant seen,
    Optional<Duration> ttl) {
  /** The longest value that is read, in characters. A longer value is no stamp. */
  static final int LONGEST = 53;

  /** A lock that is to last for longer is none. */
  private static final Duration FURTHEST = Duration.ofDays(366);

  /** Some languages write large numbers as {@code 1.7E9}. */
  private static final Pattern NUMBER =
      Pattern.compile("[1-9][0-9]{0,23}(\\.[0-9]{0,24})?([eE]\\+?[0-9]{1,2})?");

  private static final Pattern INTEGER = Pattern.compile("[0-9]+");

  /**
   * Returns the stamp that a value looks like, if it does.
   *
   * @param seen when it was read, by the server's clock
   */
  static Optional<FoundStamp> of(String key, String value, Instant seen) {
    if (!NUMBER.matcher(value).matches()) {
      return Optional.empty();
    }
    BigDecimal number = new BigDecimal(value);
    return Unit.of(number)
        .filter(unit -> unit == Unit.SECONDS || unit == Unit.MILLIS)
        .map(
            unit ->
                new FoundStamp(
                    key,
                    value,
                    unit == Unit.SECONDS ? "s" : "ms",
                    INTEGER.matcher(value).matches() ? "integer" : "float",
                    instantOf(number, unit),
                    seen,
                    Optional.empty()))
        .filter(stamp -> !stamp.passes().isAfter(seen.plus(FURTHEST)));
  }

  private static Instant instantOf(BigDecimal number, Unit unit) {
    BigDecimal micros = number.multiply(BigDecimal.valueOf(unit.micros()));
    return Instant.EPOCH.plus(micros.longValue(), ChronoUnit.MICROS);
  }

  FoundStamp withTtl(Duration left) {
    return new FoundStamp(key, value, unit, number, passes, seen, Optional.of(left));
  }

  /**
   * Returns whether its time was still to come when it was seen. That time may have passed since: a
   * scan can take longer than a lock lasts.
   *
   * @return false if it had passed
   */
  public boolean wasLive() {
    return passes.isAfter(seen);
  }

  /**
   * Returns the key in printable form.
   *
   * @return the key itself if it is text of one line, or the key in quotes with {@code \xff} for
   *     bytes that cannot be shown, as redis-cli writes it
   */
  public String name() {
    byte[] bytes = key.getBytes(ISO_8859_1);
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      if (text.chars().allMatch(FoundStamp::isShown) && !text.startsWith("\"")) {
        return text;
      }
    } catch (CharacterCodingException e) {
      // quoted below
    }
    StringBuilder quoted = new StringBuilder("\"");
    for (byte b : bytes) {
      char c = (char) (b & 0xff);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c >= ' ' && c <= '~') {
        quoted.append(c);
      } else {
        quoted.append(String.format(Locale.ROOT, "\\x%02x", (int) c));
      }
    }
    return quoted.append('"').toString();
  }

  /**
   * Returns whether a character may be printed: one that moves the cursor, or turns the direction
   * of a line, would let a key forge output.
   */
  private static boolean isShown(int c) {
    int type = Character.getType(c);
    return type != Character.CONTROL
        && type != Character.FORMAT
        && type != Character.LINE_SEPARATOR
        && type != Character.PARAGRAPH_SEPARATOR;
  }
}
