package dev.holdfast.spi;

import dev.holdfast.LockConfigurationException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Parses the text of a URL. See {@link LockUrl} for the grammar. */
final class UrlParser {
  private final MaskedText text;
  private final String raw;

  /** The end of the target: the question mark, or the end. */
  private final int targetEnd;

  UrlParser(MaskedText text) {
    this.text = text;
    this.raw = text.raw();
    this.targetEnd = UrlChars.firstOf("?", raw, 0, raw.length());
  }

  LockUrl parse(Map<String, UrlOption> overriding) {
    int colon = UrlChars.firstOf(":", raw, 0, targetEnd);
    if (colon == targetEnd || colon == 0 || raw.startsWith("//", colon + 1)) {
      throw text.error(
          0,
          colon,
          "a URL starts with the kind of lock: write redlock:redis://host:6379 or memory:name");
    }
    String scheme = word(0, colon, "a kind of lock");
    int target = colon + 1;
    int slashes = raw.indexOf("://", target);
    boolean addresses = slashes >= 0 && slashes < targetEnd;
    int driverEnd = raw.lastIndexOf(':', (addresses ? slashes : targetEnd) - 1);
    Optional<String> driver = Optional.empty();
    if (driverEnd > colon) {
      driver = Optional.of(word(target, driverEnd, "a driver"));
      target = driverEnd + 1;
    }
    if (addresses) {
      return new LockUrl(text, scheme, driver, target, targetEnd, true, options(true, overriding));
    }
    if (target < targetEnd) {
      checked(target, targetEnd, "a name");
    }
    return new LockUrl(text, scheme, driver, target, targetEnd, false, options(false, overriding));
  }

  private String word(int from, int to, String what) {
    return checked(from, to, what).toLowerCase(Locale.ROOT);
  }

  private String checked(int from, int to, String what) {
    if (from == to) {
      throw text.error(from, to, what + " is missing here");
    }
    for (int i = from; i < to; i++) {
      if (!UrlChars.isWord(raw.charAt(i))) {
        throw text.error(
            i,
            i + 1,
            text.quoted(i, i + 1)
                + " cannot stand in "
                + what
                + ": it has letters, digits, - . _ and ~; nodes start with redis://");
      }
    }
    return raw.substring(from, to);
  }

  private Map<String, UrlOption> options(boolean addresses, Map<String, UrlOption> overriding) {
    Map<String, UrlOption> options = new LinkedHashMap<>();
    for (int start = targetEnd + 1; targetEnd < raw.length() && start <= raw.length(); ) {
      int end = UrlChars.firstOf("&", raw, start, raw.length());
      UrlOption option = option(start, end, addresses);
      if (options.put(option.name(), option) != null) {
        throw text.error(
            start,
            end,
            "option " + text.quoted(option.from(), option.valueFrom() - 1) + " is given twice");
      }
      start = end + 1;
    }
    options.putAll(overriding);
    return options;
  }

  private UrlOption option(int from, int to, boolean addresses) {
    int equals = UrlChars.firstOf("=", raw, from, to);
    if (from == to || equals == to || equals == from) {
      throw text.error(from, to, "an option is written name=value");
    }
    String name = checked(from, equals, "the name of an option");
    for (int i = equals + 1; i < to; i++) {
      char c = raw.charAt(i);
      if (c == '@' && addresses) {
        throw text.error(
            i,
            i + 1,
            "an @ after the first ? : a ? inside a password is written %3F, an @ inside an option"
                + " %40");
      }
      if (c == '#' || Character.isWhitespace(c) || Character.isISOControl(c)) {
        throw text.error(
            i,
            i + 1,
            "this character must be percent-encoded in an option: write %23 for #, %20 for a space");
      }
    }
    return new UrlOption(name, decoded(equals + 1, to), text, from, equals + 1, to);
  }

  /** Decodes a part. A % at its very end stands for a percentage. */
  private String decoded(int from, int to) {
    StringBuilder decoded = new StringBuilder();
    for (int i = from; i < to; ) {
      if (raw.charAt(i) != '%' || i + 1 == to) {
        decoded.append(raw.charAt(i++));
        continue;
      }
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      int start = i;
      while (i < to && raw.charAt(i) == '%' && UrlChars.isHexPair(raw, i + 1, to)) {
        bytes.write(Integer.parseInt(raw, i + 1, i + 3, 16));
        i += 3;
      }
      decoded.append(utf8(bytes.toByteArray(), start, Math.max(i, start + 1)));
      if (i == start) {
        throw badPercent(start, start + 1);
      }
    }
    return decoded.toString();
  }

  private String utf8(byte[] bytes, int from, int to) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw badPercent(from, to);
    }
  }

  private LockConfigurationException badPercent(int from, int to) {
    return text.error(
        from,
        to,
        "this is not percent-encoded UTF-8: after % come two hexadecimal digits; write %25 for %"
            + " itself");
  }
}
