package dev.holdfast.redlock.internal.lock;

import java.util.HexFormat;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/**
 * Makes and reads the values of locks: {@code label:} and 40 hex digits, new for every attempt. The
 * Redlock page asks for 20 random bytes. The label tells people who the holder is.
 */
public final class LockValues {
  private static final int RANDOM_BYTES = 20;
  private static final int MAX_LABEL_LENGTH = 256;
  private static final Pattern OURS = Pattern.compile("(?s)(.*):[0-9a-f]{40}");

  private final RandomGenerator random;

  LockValues(RandomGenerator random) {
    this.random = random;
  }

  String next(String label) {
    byte[] bytes = new byte[RANDOM_BYTES];
    random.nextBytes(bytes);
    return label + ":" + HexFormat.of().formatHex(bytes);
  }

  /**
   * Returns the label of a value in printable characters, or the value itself if another library
   * wrote it.
   */
  public static String labelOf(String value) {
    var ours = OURS.matcher(value);
    String label = ours.matches() ? ours.group(1) : value;
    String printable = label.replaceAll("[\\p{Cc}\\p{Cf}]", "�");
    return printable.length() <= MAX_LABEL_LENGTH
        ? printable
        : printable.substring(0, MAX_LABEL_LENGTH) + "…";
  }
}
