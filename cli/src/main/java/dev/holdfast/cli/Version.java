package dev.holdfast.cli;

import picocli.CommandLine.IVersionProvider;

/** What {@code --version} prints. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {text()};
  }

  static String text() {
    String version = Version.class.getPackage().getImplementationVersion();
    return "holdfast "
        + (version == null ? "(not packaged)" : version)
        + " (Java "
        + Runtime.version().feature()
        + ")";
  }
}
