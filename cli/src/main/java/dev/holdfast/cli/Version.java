package dev.holdfast.cli;

import picocli.CommandLine.IVersionProvider;

/** What {@code --version} prints. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    String version = Version.class.getPackage().getImplementationVersion();
    return new String[] {
      "holdfast "
          + (version == null ? "(not packaged)" : version)
          + " (Java "
          + Runtime.version().feature()
          + ")"
    };
  }
}
