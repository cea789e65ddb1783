package dev.holdfast.redlock;

import java.util.HexFormat;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/**
 * The values of locks: {@code label:} and 40 hex digits, new for every attempt. The digits are what
 * the Redlock page asks for (20 bytes); the label tells people who holds.
 */
final class Tokens {
  private static final int RANDOM_BYTES = 20;
  private static final int LONGEST_LABEL = 256;
  private static final Pattern OURS = Pattern.compile("(?s)(.*):[0-9a-f]{40}");

  private final RandomGenerator random;

  Tokens(RandomGenerator random) {
    this.random = random;
  }

  String next(String label) {
    byte[] bytes = new byte[RANDOM_BYTES];
    random.nextBytes(bytes);
    return label + ":" + HexFormat.of().formatHex(bytes);
  }

  /** The label of a value, or the value itself if another library wrote it; fit to be printed. */
  static String labelOf(String value) {
    var ours = OURS.matcher(value);
    String label = ours.matches() ? ours.group(1) : value;
    String printable = label.replaceAll("[\\p{Cc}\\p{Cf}]", "�");
    return printable.length() <= LONGEST_LABEL
        ? printable
        : printable.substring(0, LONGEST_LABEL) + "…";
  }
}
