package dev.holdfast.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option of all commands that need locks. */
final class UrlOption {
  @Option(
      names = "--url",
      paramLabel = "URL",
      description =
          "Where locks come from, for example redlock:redis://h1,redis://h2,redis://h3. Default:"
              + " HOLDFAST_URL, else the nodes of 'holdfast nodes start'.")
  private @Nullable String url;

  Backend backend() {
    return Backend.of(url);
  }
}
