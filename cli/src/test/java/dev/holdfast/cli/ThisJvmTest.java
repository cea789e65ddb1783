package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.cli.process.ProcessContext;
import java.io.InputStream;
import java.io.PrintStream;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Commands in this JVM are what they are as processes. */
class ThisJvmTest {
  @Test
  void aCommandHasStreamsAndAnExitCodeAndLeavesThoseOfTheJvm() {
    InputStream in = System.in;
    PrintStream out = System.out;
    PrintStream err = System.err;

    try (Program process = Program.holdfast("status", "x", "--interval", "2s");
        Program command = Program.inThisJvm("status", "x", "--interval", "2s")) {
      assertThat(command.exitCode()).isEqualTo(process.exitCode()).isEqualTo(64);
      assertThat(command.out()).isEqualTo(process.out()).isEmpty();
      assertThat(command.err()).isEqualTo(process.err()).contains("--watch");
    }
    assertThat(System.in).isSameAs(in);
    assertThat(System.out).isSameAs(out);
    assertThat(System.err).isSameAs(err);
  }

  @Test
  void itsEnvironmentIsItsOwn() {
    try (Program command =
        Program.inThisJvm(Map.of("HOLDFAST_URL", "redlok:redis://h"), "status", "x")) {
      assertThat(command.exitCode()).isEqualTo(64);
      assertThat(command.err()).contains("the nearest is redlock");
    }
    assertThat(ProcessContext.current().variable("HOLDFAST_URL")).isEmpty();
  }

  @Test
  void itHasNoSignalsAndNoOptionsOfJava() {
    try (Program command = Program.inThisJvm("--version")) {
      assertThatThrownBy(() -> command.signal("TERM"))
          .isInstanceOf(UnsupportedOperationException.class);
    }
    assertThatThrownBy(() -> Program.inThisJvm(Map.of("HOLDFAST_JAVA_OPTS", "-Xint"), "--version"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
