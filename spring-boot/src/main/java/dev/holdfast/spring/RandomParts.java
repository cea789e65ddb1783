package dev.holdfast.spring;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Masks the random parts of a holder's value. The value of another library's lock is its token, and
 * a client that knows it can release the lock. A label for people stays readable.
 */
final class RandomParts {
  private static final String MASK = "…";

  /** Matches UUIDs, and 20 or more hex digits. */
  private static final Pattern HEX =
      Pattern.compile("\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}|\\p{XDigit}{20,}");

  /** Matches 20 or more characters of Base64, also of that for URLs, with small and capitals. */
  private static final Pattern MIXED_CASE =
      Pattern.compile("(?=[A-Z0-9+/=_-]*+[a-z])(?=[a-z0-9+/=_-]*+[A-Z])[A-Za-z0-9+/=_-]{20,}");

  /** Matches the same without a hyphen, which separates the words of most labels. */
  private static final Pattern ANY_CASE = Pattern.compile("[A-Za-z0-9+/=_]{20,}");

  /**
   * A part with a jump in every seventh character is random. Two in 1000 random texts of 22 letters
   * and digits have fewer jumps, and {@code OrderServiceInstance01} has 3.
   */
  private static final int CHARACTERS_PER_JUMP = 7;

  /** Matches between two characters: a letter beside a digit, or a capital after a small letter. */
  private static final Pattern JUMP =
      Pattern.compile("(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])|(?<=[a-z])(?=[A-Z])");

  private RandomParts() {}

  /** Returns the value with an ellipsis in the place of each random part. */
  static String masked(String value) {
    String withoutHex = HEX.matcher(value).replaceAll(MASK);
    return masked(masked(withoutHex, MIXED_CASE), ANY_CASE);
  }

  private static String masked(String value, Pattern parts) {
    return parts
        .matcher(value)
        .replaceAll(part -> isRandom(part.group()) ? MASK : Matcher.quoteReplacement(part.group()));
  }

  private static boolean isRandom(String part) {
    return JUMP.matcher(part).results().count() * CHARACTERS_PER_JUMP >= part.length();
  }
}
