package dev.holdfast.testnodes;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A shell that sends the signals that the JVM has no call for. All nodes of this JVM share one,
 * because to start a shell takes far longer than to send a signal. It ends with this JVM, whose end
 * closes its input. Thread-safe.
 */
final class SignalShell {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  /** Calls the shell's own kill, because a minimal container image has no other. */
  private static final String LOOP =
      "while read -r signal pid; do kill -$signal $pid; echo sent; done";

  private static @Nullable SignalShell shared;

  private final Process process;
  private final BufferedWriter in;
  private final BufferedReader out;

  private SignalShell() throws IOException {
    process =
        new ProcessBuilder("/bin/sh", "-c", LOOP)
            .redirectError(ProcessBuilder.Redirect.DISCARD) // of processes that have ended
            .start();
    in = process.outputWriter(US_ASCII);
    out = process.inputReader(US_ASCII);
  }

  /**
   * Sends a signal. A shell that was killed is replaced.
   *
   * @param signal without SIG: STOP, CONT
   * @throws NodeException if no shell can be started, or it does not do so within 5 s
   */
  static synchronized void send(String signal, long pid) {
    try {
      if (shared == null || !shared.isSent(signal, pid)) {
        shared = new SignalShell();
        if (!shared.isSent(signal, pid)) {
          throw new NodeException("/bin/sh ended instead of sending SIG" + signal + " to " + pid);
        }
      }
    } catch (IOException e) {
      throw new NodeException("Cannot run /bin/sh: " + e.getMessage(), e);
    }
  }

  /** Returns false if the shell has ended. */
  private boolean isSent(String signal, long pid) {
    try {
      in.write(signal + " " + pid + "\n");
      in.flush();
      if (!Waiting.until(LIMIT, this::hasSaidSomething)) {
        process.destroyForcibly();
        throw new NodeException("/bin/sh sent no signal within " + LIMIT.toSeconds() + " s");
      }
      return out.readLine() != null;
    } catch (IOException e) {
      return false;
    }
  }

  private boolean hasSaidSomething() {
    try {
      return out.ready() || !process.isAlive();
    } catch (IOException e) {
      return true;
    }
  }
}
