package dev.holdfast.redlock.spi;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;

/**
 * A Lua script and its digest.
 *
 * @param source the script's text
 * @param sha1 its SHA-1 in lower-case hex, as {@code EVALSHA} takes it
 */
public record Script(String source, String sha1) {
  /** Checks that nothing is null. */
  public Script {
    Objects.requireNonNull(source, "source");
    Objects.requireNonNull(sha1, "sha1");
  }

  public static Script of(String source) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-1").digest(source.getBytes(StandardCharsets.UTF_8));
      return new Script(source, HexFormat.of().formatHex(digest));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }
}
