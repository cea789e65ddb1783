package dev.holdfast.tck;

import dev.holdfast.LockCapability;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The rules of SPEC.md, which is in this jar. */
public final class Spec {
  private static final Pattern PARTS = Pattern.compile("\\n(?=- |## )|\\n\\n");
  private static final Pattern SECTION =
      Pattern.compile("## ([^\\[\\n]*?)(?: \\[(?:([A-Z_]+)|.*)])?\\s*");
  private static final Pattern RULE =
      Pattern.compile(
          "- \\*\\*([A-Z]+-\\d+)\\*\\* (MUST|SHOULD|MAY)\\. (?:\\[([A-Z_]+)] )?(.*?)"
              + "\\s*\\*Intent: (.*?)\\*",
          Pattern.DOTALL);

  private static final Map<String, SpecRule> RULES = read();

  private Spec() {}

  /**
   * Returns all rules.
   *
   * @return by id, in the order of SPEC.md
   */
  public static Map<String, SpecRule> rules() {
    return RULES;
  }

  /**
   * Returns one rule.
   *
   * @param id for example {@code ACQ-3}
   * @return the rule
   * @throws IllegalArgumentException if no rule has this id
   */
  public static SpecRule rule(String id) {
    SpecRule rule = RULES.get(id);
    if (rule == null) {
      throw new IllegalArgumentException("SPEC.md has no rule " + id);
    }
    return rule;
  }

  private static Map<String, SpecRule> read() {
    try (InputStream in = Objects.requireNonNull(Spec.class.getResourceAsStream("SPEC.md"))) {
      return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, SpecRule> parse(String markdown) {
    Map<String, SpecRule> rules = new LinkedHashMap<>();
    String section = "";
    @Nullable String ofSection = null;
    for (String part : PARTS.split(markdown, -1)) {
      Matcher heading = SECTION.matcher(part);
      Matcher rule = RULE.matcher(part);
      if (heading.matches()) {
        section = heading.group(1).strip();
        ofSection = heading.group(2);
      } else if (rule.lookingAt()) {
        rules.put(
            rule.group(1),
            new SpecRule(
                rule.group(1),
                SpecRule.Level.valueOf(rule.group(2)),
                section,
                capabilities(ofSection, rule.group(3)),
                oneLine(rule.group(4)),
                oneLine(rule.group(5))));
      }
    }
    return Collections.unmodifiableMap(rules);
  }

  private static Set<LockCapability> capabilities(@Nullable String... names) {
    EnumSet<LockCapability> all = EnumSet.noneOf(LockCapability.class);
    for (String name : names) {
      if (name != null) {
        all.add(LockCapability.valueOf(name));
      }
    }
    return Collections.unmodifiableSet(all);
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\s+", " ").strip();
  }
}
