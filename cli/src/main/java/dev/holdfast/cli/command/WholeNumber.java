package dev.holdfast.cli.command;

import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Numbers of things, with messages for people who have never heard of an int. */
public final class WholeNumber implements ITypeConverter<Integer> {
  private static final Pattern DIGITS = Pattern.compile("[+-]?[0-9]+");

  @Override
  public Integer convert(String value) {
    try {
      return Integer.valueOf(value);
    } catch (NumberFormatException e) {
      throw new TypeConversionException(
          "'"
              + value
              + "' is "
              + (DIGITS.matcher(value).matches() ? "too large" : "not a whole number"));
    }
  }
}
