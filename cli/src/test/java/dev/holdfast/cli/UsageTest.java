package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.bench.BenchCommand;
import dev.holdfast.cli.compare.CompareCommand;
import dev.holdfast.cli.migrate.MigrateCommand;
import dev.holdfast.cli.run.RunCommand;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Command;

/** Usage errors, in this JVM: commands that never open a lock manager. */
class UsageTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "run",
        "status",
        "release",
        "backends",
        "nodes",
        "nodes init",
        "nodes start",
        "nodes stop",
        "nodes status",
        "nodes freeze",
        "nodes thaw",
        "nodes kill",
        "nodes restart",
        "demo",
        "compare",
        "bench",
        "migrate",
        "migrate check",
        "tck"
      })
  void everyCommandHasHelpWithAnExampleThatFitsATerminal(String command) {
    String[] args = (command + " --help").strip().split(" ", -1);

    assertThat(execute(args)).isZero();
    assertThat(out.toString(UTF_8)).contains("Usage: holdfast").contains("Example");
    assertThat(out.toString(UTF_8).lines())
        .allSatisfy(line -> assertThat(line).hasSizeLessThan(81));
    assertThat(err.toString(UTF_8)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "run", "nodes start"})
  void helpIsACommandToo(String command) {
    String[] asCommand = ("help " + command).strip().split(" ", -1);
    assertThat(execute(asCommand)).isZero();
    String help = out.toString(UTF_8);
    out.reset();

    assertThat(execute((command + " --help").strip().split(" ", -1))).isZero();
    assertThat(help).contains("Usage: holdfast").isEqualTo(out.toString(UTF_8));
  }

  /** Whatever the terminal's width, longer lines are broken once more. */
  @ParameterizedTest
  @ValueSource(
      classes = {RunCommand.class, BenchCommand.class, CompareCommand.class, MigrateCommand.class})
  void wrappedHelpTextFitsATerminal(Class<?> command) {
    Command declared = command.getAnnotation(Command.class);
    assertThat(declared.footer()).allSatisfy(line -> assertThat(line).hasSizeLessThan(81));
    Stream.of(declared.subcommands()).forEach(this::wrappedHelpTextFitsATerminal);
  }

  @ParameterizedTest
  @ValueSource(strings = {"run", "status", "release"})
  void theExampleOfAUrlIsInOnePiece(String command) {
    assertThat(execute(command, "--help")).isZero();

    assertThat(out.toString(UTF_8)).contains(" redlock:redis://h1,redis://h2,redis://h3\n");
  }

  @Test
  void theHelpOfTheTtlSaysHowToGetALongerOne() {
    assertThat(execute("run", "--help")).isZero();

    assertThat(out.toString(UTF_8)).contains("maxTtl, which is 60s", "?maxTtl=5m");
  }

  @Test
  void hidesTheCommandsThatAreItsOwn() {
    assertThat(execute("--help")).isZero();

    assertThat(out.toString(UTF_8))
        .contains(
            "run",
            "status",
            "release",
            "nodes",
            "backends",
            "demo",
            "compare",
            "bench",
            "migrate",
            "tck")
        .doesNotContain("worker", "warm", "compare-holder");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--version", "-V"})
  void saysItsVersion(String option) {
    assertThat(execute(option)).isZero();

    assertThat(out.toString(UTF_8)).startsWith("holdfast ").contains("(Java ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          rum                                             | Did you mean: holdfast run?
          nodes                                           | A command is missing.
          nodes freeze                                    | Missing required parameter: 'I'
          nodes start --count 0                           | --count is 0: give 1 to 31
          nodes start --count many                        | 'many' is not a whole number
          nodes start --count 99999999999                 | '99999999999' is too large
          nodes freeze x                                  | 'x' is not a whole number
          run --name x                                    | Missing required parameter: 'COMMAND
          run -- true                                     | Missing required option: '--name=NAME'
          run --name x --waits 5s -- true                 | Unknown option: '--waits'
          run --nmae x -- true                            | Unknown option: '--nmae'
          run --nmae=x -- true                            | Unknown option: '--nmae=x'
          run --nmae x -- true                            | The nearest is --name.
          run --frob x --name y -- true                   | Unknown option: '--frob'
          run --wait 5s true --nmae x                     | Missing required option: '--name=NAME'
          release --froce x                               | The nearest is --force.
          run --name x --ttl 30 -- true                   | '30' has no unit: write 30ms or 30s
          run --name x --ttl 5x -- true                   | '5x' has no such unit
          run --name x --ttl soon -- true                 | 'soon' is not a duration
          run --name x --ttl forever -- true              | 'forever' is not a duration
          run --name x --ttl -5s -- true                  | '-5s' is negative
          run --name x --ttl 40000d -- true               | '40000d' is too long
          run --name x --ttl 0s -- true                   | --ttl is zero
          run --name x --ttl 5s --at-least 25h -- true    | --at-least is above 24h
          run --name x --ttl 5s --max-hold 4s -- true     | --max-hold is below --ttl
          run --name x --url memory: -- true              | memory: locks live in one process
          status x --url memory:                          | memory: locks live in one process
          release --force --yes x --url memory:?ttl=5s    | memory: locks live in one process
          run --name x --url redlok:redis://h -- true     | the nearest is redlock
          run --name x --url redlock:redis://h:x -- true  | a port is a number
          run --name x --url redlock:other:redis://h -- true | no backend serves
          run --name x --class-path /no/jar -- true       | there is no '/no/jar'
          --class-path /no/jar nodes status               | there is no '/no/jar'
          status                                          | Missing required parameter: 'NAME'
          status x --interval 2s                          | --watch
          status x --watch --interval 49ms                | give at least 50ms
          status x --url redlok:redis://h                 | the nearest is redlock
          status x --url redlock:redis://h:x              | a port is a number
          release x --yes                                 | Missing required option: '--force'
          release --force --yes                           | Missing required parameter: 'NAME'
          release --force x                               | give --yes
          help rum                                        | Did you mean: holdfast run?
          backends x                                      | Unmatched argument
          run --name x --url redlock:redis://h --wait 1s --ttl 2m -- true | maxTtl
          demo --seconds 0                                | --seconds is 0: give 1 to 86400
          demo --workers 65                               | --workers is 65: give 1 to 64
          demo --faults --without-lock                    | holdfast: --faults, --without-lock are mutually
          demo --driver memory                            | found: jedis, lettuce, redisson
          compare --seconds 0                             | --seconds is 0: give 1 to 3600
          bench --rounds 0                                | --rounds is 0: give 1 to 1000
          bench --list --scenario nothing                 | there is no scenario 'nothing'
          migrate                                         | A command is missing.
          migrate check                                   | Missing required option: '--url=URL'
          migrate check --url redis://h --rate 0          | --rate is 0: give 1 to 1000000
          migrate check --url redis://h --delete-expired  | for example --match 'lock.*'
          migrate check --url redis://h --delete-expired --yes | for example --match 'lock.*'
          migrate check --url redis://h --delete-expired --match lock.* | give --yes
          migrate check --url redis://h:x                 | a port is a number
          migrate check --url redis://h,redis://i         | write redis://host:6379
          migrate check --url setnx:redis://h             | write redis://host:6379
          migrate check --url redis://h?unit=s            | there is no option
          migrate check --url redlock:redis://h           | write redis://host:6379
          migrate check --url memory:                     | write redis://host:6379
          tck                                             | --url is missing, which names the backend to test: give for example --url memory:
          tck --url memory: --nodes 3                     | write for example redlock:jedis:{nodes}
          tck --url redlock:jedis:{nodes} --nodes 0       | --nodes is 0: give 1 to 31
          tck --url redlock:jedis:{nodes}x                | a port is a number
          tck --url memory: --rule REL-99                 | there is no rule 'REL-99'; the nearest is REL-
          tck --url memory: --broken REL-99=x             | there is no rule 'REL-99'
          tck --url memory: --rule RELEASE                | and groups are ACQ VAL REL EXT
          tck --url memory: --report /dev/null            | no folder can be made there
          tck --url memory: --report /proc/x              | no folder can be made there
          tck --url redlock:jedis:{nodes} --in-process    | --in-process is for locks in one process
          tck --url redlock:redis://h --in-process        | --in-process is for locks in one process
          tck --url redlok:x                              | the nearest is redlock
          tck --url redlock:redis://h:x                   | a port is a number
          tck --url redlock:redis://h                     | give --yes
          """)
  void usageErrorsSuggestTheRightUsageAndExitWith64(String command, String message) {
    assertThat(execute(command.split(" ", -1))).isEqualTo(64);

    assertThat(err.toString(UTF_8)).startsWith("holdfast: ").contains(message);
    assertThat(out.toString(UTF_8)).isEmpty();
  }

  @Test
  void anEmptyNameIsBadUsage() {
    assertThat(execute("run", "--name", "", "--url", "memory:", "--", "true")).isEqualTo(64);

    assertThat(err.toString(UTF_8)).contains("name of a lock is empty");
  }

  @Test
  void neverShowsAPassword() {
    assertThat(execute("run", "--name", "x", "--url", "redlock:redis://u:geheim@h:x", "--", "true"))
        .isEqualTo(64);

    assertThat(err.toString(UTF_8)).contains("***").doesNotContain("geheim");
  }

  @Test
  void withoutUrlAndNodesItSaysHowToStartSome() {
    assertThat(execute("run", "--name", "x", "--", "true")).isEqualTo(64);

    assertThat(err.toString(UTF_8)).contains("--url", "HOLDFAST_URL", "holdfast nodes start");
  }

  @ParameterizedTest
  @ValueSource(strings = {"status", "freeze 0", "thaw 0", "kill 0", "restart 0"})
  void withoutNodesTheirCommandsSayHowToStartSome(String command) {
    assertThat(execute(("nodes " + command).split(" ", -1))).isEqualTo(64);

    assertThat(err.toString(UTF_8)).contains("holdfast nodes start");
  }

  @Test
  void stoppingWithoutRunningNodesSucceeds() {
    assertThat(execute("nodes", "stop")).isZero();

    assertThat(out.toString(UTF_8)).contains("No nodes");
  }

  private int execute(String... args) {
    PrintStream realOut = System.out;
    PrintStream realErr = System.err;
    try {
      System.setOut(new PrintStream(out, true, UTF_8));
      System.setErr(new PrintStream(err, true, UTF_8));
      return Main.execute(args);
    } finally {
      System.setOut(realOut);
      System.setErr(realErr);
    }
  }
}
