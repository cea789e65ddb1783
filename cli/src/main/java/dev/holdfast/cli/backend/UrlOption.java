package dev.holdfast.cli.backend;

import dev.holdfast.cli.command.UsageException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option of all commands that need locks. */
public final class UrlOption {
  @Option(
      names = "--url",
      paramLabel = "URL",
      description = {
        "Where locks come from, for example",
        "redlock:redis://h1,redis://h2,redis://h3",
        "Default: HOLDFAST_URL, else the nodes of 'holdfast nodes start'."
      })
  private @Nullable String url;

  /**
   * Returns the backend of the URL.
   *
   * @throws UsageException if there is none, or if no other process shares its locks
   */
  public Backend backend() {
    Backend backend = Backend.of(url);
    if (backend.url().startsWith("memory:")) {
      throw new UsageException(
          "memory: locks live in one process, so that another holdfast never sees them: give a"
              + " redlock: URL, or start nodes with: holdfast nodes start");
    }
    return backend;
  }
}
