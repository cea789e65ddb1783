package dev.holdfast.cli.command;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.spi.LockUrl;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Durations as URLs have them: the one parser reads both. */
public final class DurationConverter implements ITypeConverter<Duration> {
  private static final String OPTION = "value";

  /** More is a slip of the hand, and sums of these stay far below what overflows. */
  private static final Duration MAX_DURATION = Duration.ofDays(36_500);

  @Override
  public Duration convert(String value) {
    Duration duration = parse(value);
    if (duration.compareTo(MAX_DURATION) > 0) {
      throw new TypeConversionException("'" + value + "' is too long: give at most 36500d");
    }
    return duration;
  }

  private static Duration parse(String value) {
    try {
      return LockUrl.parse("memory:", Map.of(OPTION, value)).duration(OPTION, Duration.ZERO);
    } catch (LockConfigurationException e) {
      String firstLine = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
      throw new TypeConversionException(firstLine.replaceFirst("^option " + OPTION + ": ", ""));
    }
  }

  /** Also {@code forever}. */
  public static final class OrForever implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String value) {
      return value.equals("forever")
          ? ChronoUnit.FOREVER.getDuration()
          : new DurationConverter().convert(value);
    }
  }
}
