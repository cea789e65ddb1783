package dev.holdfast.cli.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** A page of HTML from the resources of a package, which needs nothing but itself. */
public final class Page {
  private Page() {}

  /**
   * Puts {@code head.html}, {@code page.css}, {@code page.js} and data into {@code page.html}. The
   * script finds the data as {@code data}, and makes elements with {@code element}.
   *
   * @param owner a class beside which the resources lie
   * @param data as {@link Json#of} writes it
   */
  public static String of(Class<?> owner, Object data) {
    // No text in the data can end the element that it stands in, and data comes last: it stays as
    // is.
    return resource(owner, "page.html")
        .replace("{{head}}", resource(Page.class, "head.html"))
        .replace("{{style}}", resource(owner, "page.css"))
        .replace("{{script}}", resource(Page.class, "data.js") + resource(owner, "page.js"))
        .replace("{{data}}", Json.of(data).replace("<", "\\u003c"));
  }

  private static String resource(Class<?> owner, String name) {
    try (InputStream in = Objects.requireNonNull(owner.getResourceAsStream(name), name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
