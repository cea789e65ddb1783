package dev.holdfast.cli.tck;

import dev.holdfast.cli.process.ExitCode;
import dev.holdfast.cli.process.Signals;
import dev.holdfast.cli.report.Json;
import dev.holdfast.cli.terminal.Terminal;
import dev.holdfast.tck.env.TckEnvironment;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A run of the kit from its environment to its exit code. */
final class TckRun {
  private final TckTarget target;
  private final Set<String> rules;
  private final Map<String, String> brokenByDesign;
  private final boolean hasNodeOptions;
  private final Optional<TckReport> report;
  private final boolean json;

  /**
   * Begins nothing yet.
   *
   * @param rules the rules to test, empty for all
   * @param brokenByDesign the reasons by rule
   * @param hasNodeOptions as {@link TckTarget#environment} takes it
   */
  TckRun(
      TckTarget target,
      Set<String> rules,
      Map<String, String> brokenByDesign,
      boolean hasNodeOptions,
      Optional<TckReport> report,
      boolean json) {
    this.target = target;
    this.rules = rules;
    this.brokenByDesign = brokenByDesign;
    this.hasNodeOptions = hasNodeOptions;
    this.report = report;
    this.json = json;
  }

  int exitCode() throws IOException {
    Signals signals = Signals.handled();
    signals.passTo(
        signal -> {
          // The test that runs ends first, and ends its faults. A second signal ends all.
          TckKit.stop();
          signals.exitAtNext();
        });
    TckResult result = result();
    boolean coloured = Terminal.canRedraw() && Terminal.wantsColour();
    System.out.println(json ? Json.of(result.members()) : TckSummary.of(result, coloured));
    if (report.isPresent()) {
      String written = "Report: " + report.get().write(result);
      (json ? System.err : System.out).println(written);
    }
    try {
      signals.requireNone();
      return result.exitCode();
    } catch (Signals.Signalled e) {
      return ExitCode.ofSignal(e.signal().number());
    }
  }

  private TckResult result() {
    Instant begun = Instant.now();
    long nanos = System.nanoTime();
    TckEnvironment environment = target.environment(brokenByDesign, hasNodeOptions);
    TckSubject subject;
    try {
      subject = TckSubject.of(target, environment);
    } catch (RuntimeException e) {
      environment.close();
      throw e;
    }
    List<TckTest> tests;
    try (TckProgress progress = TckProgress.of(json)) {
      tests =
          TckRunner.run(
              environment,
              () -> target.environment(brokenByDesign, hasNodeOptions),
              rules,
              progress);
    }
    return new TckResult(
        subject,
        begun,
        Duration.ofNanos(System.nanoTime() - nanos),
        rules,
        tests,
        !TckKit.isStopped());
  }
}
