package dev.holdfast.spi;

import dev.holdfast.LockConfigurationException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An option's decoded value, and where it stands.
 *
 * @param text holds the option
 * @param from where the option's name starts. It ends before the equals sign
 * @param valueFrom where the value starts
 * @param to where the value ends
 */
record UrlOption(String name, String value, MaskedText text, int from, int valueFrom, int to) {
  private static final Pattern DURATION = Pattern.compile("(-?)([0-9]{1,18})([A-Za-z]*)");
  private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,18}");
  private static final Pattern PERCENT = Pattern.compile("([0-9]{1,3}(?:\\.[0-9]{1,9})?)%");
  private static final Map<String, ChronoUnit> UNITS =
      Map.of(
          "ns", ChronoUnit.NANOS,
          "us", ChronoUnit.MICROS,
          "ms", ChronoUnit.MILLIS,
          "s", ChronoUnit.SECONDS,
          "m", ChronoUnit.MINUTES,
          "h", ChronoUnit.HOURS,
          "d", ChronoUnit.DAYS);

  Duration duration() {
    Matcher matcher = DURATION.matcher(value);
    if (!matcher.matches()) {
      throw wrong(
          "is not a duration: write a whole number of at most 18 digits and a unit, such as"
              + " 50ms or 30s");
    }
    if (!matcher.group(1).isEmpty()) {
      throw wrong("is negative: write zero or more, such as 50ms or 30s");
    }
    String digits = matcher.group(2);
    if (matcher.group(3).isEmpty()) {
      throw wrong("has no unit: write " + digits + "ms or " + digits + "s (ns us ms s m h d)");
    }
    ChronoUnit unit = UNITS.get(matcher.group(3));
    if (unit == null) {
      throw wrong("has no such unit: the units are ns, us, ms, s, m, h and d");
    }
    try {
      return Duration.of(Long.parseLong(digits), unit);
    } catch (ArithmeticException e) {
      throw wrong("is longer than a duration can be");
    }
  }

  boolean flag() {
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "true", "on", "yes" -> true;
      case "false", "off", "no" -> false;
      default -> throw wrong("is neither true (on, yes) nor false (off, no)");
    };
  }

  long number() {
    if (!NUMBER.matcher(value).matches()) {
      throw wrong("is not a whole number of at most 18 digits");
    }
    return Long.parseLong(value);
  }

  double percent() {
    Matcher matcher = PERCENT.matcher(value);
    double percent = matcher.matches() ? Double.parseDouble(matcher.group(1)) : -1;
    if (percent < 0 || percent > 100) {
      throw wrong("is not a percentage: write 0% to 100%, such as 1% or 0.5%");
    }
    return percent / 100;
  }

  LockConfigurationException wrong(String what) {
    return text.error(
        valueFrom,
        to,
        "option "
            + text.shown(from, valueFrom - 1)
            + ": "
            + text.quoted(valueFrom, to)
            + " "
            + what);
  }
}
