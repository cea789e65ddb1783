package dev.holdfast.simulation;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import org.jspecify.annotations.Nullable;

/**
 * Lua's numbers are doubles. Redis writes them with 17 digits when they become arguments, and Lua
 * with 14 when they become part of a text.
 */
final class LuaNumber {
  private static final int ARGUMENT = 17;
  private static final double LEAST_TOO_LONG_FOR_ARGUMENT = 1e17;
  private static final int JOINED = 14;
  private static final double LEAST_TOO_LONG_TO_JOIN = 1e14;

  /** So many digits fit into a long whatever they are. */
  private static final int SHORT = 18;

  private LuaNumber() {}

  /** Converts as {@code tonumber} does, or null if it is no number. */
  static @Nullable Double of(@Nullable Object value) {
    if (value instanceof Double number) {
      return number;
    }
    return value instanceof String text ? parsed(text) : null;
  }

  /** Formats as C's {@code %.17g}. */
  static String text(double number) {
    return number == Math.rint(number) && Math.abs(number) < LEAST_TOO_LONG_FOR_ARGUMENT
        ? Long.toString((long) number)
        : written(number, ARGUMENT);
  }

  /** Formats as C's {@code %.14g}. */
  static String joined(double number) {
    return number == Math.rint(number) && Math.abs(number) < LEAST_TOO_LONG_TO_JOIN
        ? Long.toString((long) number)
        : written(number, JOINED);
  }

  private static String written(double number, int precision) {
    BigDecimal digits =
        new BigDecimal(number)
            .round(new MathContext(precision, RoundingMode.HALF_EVEN))
            .stripTrailingZeros();
    int exponent = digits.precision() - digits.scale() - 1;
    if (exponent >= -4 && exponent < precision) {
      return digits.toPlainString();
    }
    String sign = exponent < 0 ? "e-" : "e+";
    String size = Math.abs(exponent) < 10 ? "0" + Math.abs(exponent) : "" + Math.abs(exponent);
    return digits.scaleByPowerOfTen(-exponent).toPlainString() + sign + size;
  }

  private static @Nullable Double parsed(String text) {
    int length = text.length();
    long whole = 0;
    for (int i = 0; i < length && length <= SHORT; i++) {
      char digit = text.charAt(i);
      if (digit < '0' || digit > '9') {
        return fraction(text);
      }
      whole = 10 * whole + (digit - '0');
    }
    return length > 0 && length <= SHORT ? (Double) (double) whole : fraction(text);
  }

  private static @Nullable Double fraction(String text) {
    try {
      return new BigDecimal(text).doubleValue();
    } catch (NumberFormatException e) {
      return null;
    }
  }
}
