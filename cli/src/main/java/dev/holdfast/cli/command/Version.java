package dev.holdfast.cli.command;

import picocli.CommandLine.IVersionProvider;

/** The text of {@code --version}. */
public final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {text()};
  }

  public static String text() {
    return "holdfast " + number() + " (Java " + Runtime.version().feature() + ")";
  }

  /** Returns the version of this program. */
  public static String number() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "(not packaged)" : version;
  }
}
