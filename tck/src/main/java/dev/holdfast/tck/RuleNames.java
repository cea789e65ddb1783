package dev.holdfast.tck;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.DisplayNameGenerator;

/** Shows a test as its rule and the sentence that its name is. */
final class RuleNames extends DisplayNameGenerator.Standard {
  @Override
  public String generateDisplayNameForNestedClass(
      List<Class<?>> enclosingInstanceTypes, Class<?> nestedClass) {
    return words(nestedClass.getSimpleName());
  }

  @Override
  public String generateDisplayNameForMethod(
      List<Class<?>> enclosingInstanceTypes, Class<?> testClass, Method testMethod) {
    Rule rule = testMethod.getAnnotation(Rule.class);
    String sentence = words(testMethod.getName());
    return rule == null ? sentence : String.join(", ", rule.value()) + ": " + sentence;
  }

  private static String words(String camelCase) {
    return camelCase
        .replaceAll("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ")
        .toLowerCase(Locale.ROOT);
  }
}
