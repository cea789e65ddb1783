package dev.holdfast.cli.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.holdfast.cli.Limits;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A headless Chromium, for one page at a time. */
public final class Browser {
  private static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome", "chrome");

  /** Set to {@code required}, a Chromium that is missing is a failure. */
  private static final String PROPERTY = "holdfast.chromium";

  private Browser() {}

  /**
   * Opens a page, runs its scripts, and returns what has become of it.
   *
   * @param profile a folder that is not there yet
   */
  public static String open(Path page, Path profile) throws IOException, InterruptedException {
    Path dom = Files.createTempFile(profile.toAbsolutePath().getParent(), "dom", ".html");
    Path errors = Files.createTempFile(profile.toAbsolutePath().getParent(), "dom", ".err");
    Process chromium =
        new ProcessBuilder(
                executable().toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-quic",
                "--no-first-run",
                "--user-data-dir=" + profile,
                "--dump-dom",
                page.toUri().toString())
            .redirectOutput(dom.toFile())
            .redirectError(errors.toFile())
            .start();
    try {
      assertThat(chromium.waitFor(Limits.LONG.toMillis(), TimeUnit.MILLISECONDS))
          .as("Chromium has ended; it printed %s", Files.readString(errors, UTF_8))
          .isTrue();
    } finally {
      chromium.descendants().forEach(ProcessHandle::destroyForcibly);
      chromium.destroyForcibly();
    }
    return Files.readString(dom, UTF_8);
  }

  private static Path executable() {
    Optional<Path> found =
        Stream.of(System.getenv("PATH").split(Pattern.quote(File.pathSeparator), -1))
            .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
            .filter(Files::isExecutable)
            .findFirst();
    String missing = "no Chromium is on the PATH, by any name of " + NAMES;
    if (found.isEmpty() && "required".equals(System.getProperty(PROPERTY))) {
      throw new AssertionError(missing);
    }
    return found.orElseGet(() -> abort(missing));
  }
}
