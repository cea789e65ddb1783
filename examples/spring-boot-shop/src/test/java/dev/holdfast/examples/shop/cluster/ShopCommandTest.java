package dev.holdfast.examples.shop.cluster;

import static dev.holdfast.testsupport.Eventually.soon;
import static dev.holdfast.testsupport.Eventually.within;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command in the README, with an mvn that does not build: the shop is compiled already. */
@Tag("slow")
class ShopCommandTest {
  private static final String MVN =
      """
      #!/bin/sh
      echo "$*" > mvn-arguments
      printf %s "$SHOP_CLASS_PATH" > examples/spring-boot-shop/target/runtime-path.txt
      """;

  /** Starts four JVMs. */
  private static final Duration START_LIMIT = Duration.ofMinutes(5);

  private static final Duration REQUEST_LIMIT = Duration.ofMinutes(1);
  private static final Duration STOP_LIMIT = Duration.ofSeconds(90);

  private static final Pattern PAGE =
      Pattern.compile("(?m)^shop-[123]  (http://\\S+)  \\(kill -KILL (\\d+) ends it");
  private static final Pattern NODE = Pattern.compile("(?m)^node \\S+: kill -STOP (\\d+) ");

  @TempDir private Path tree;

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void itStartsThreeInstancesWithTheirPagesAndLeavesNoProcess() throws Exception {
    Process command = start();
    List<ProcessHandle> all = List.of();
    try {
      within(START_LIMIT).until(() -> output().contains("Ctrl-C") || !command.isAlive());
      all = processes(command);
      assertThat(output()).contains("Open one of the pages. Ctrl-C ends all of it.");
      assertThat(Files.readString(tree.resolve("mvn-arguments")))
          .contains("package -pl examples/spring-boot-shop -am");
      assertThat(printed(PAGE, 1))
          .hasSize(3)
          .allSatisfy(url -> assertThat(page(url)).contains("<h1>Shop"));
      assertThat(printed(PAGE, 2)).hasSize(3).allMatch(ShopCommandTest::isAlive);
      assertThat(printed(NODE, 1)).hasSize(3).allMatch(ShopCommandTest::isAlive);

      command.destroy(); // SIGTERM, which ends it as Ctrl-C does

      assertThat(command.waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      List<ProcessHandle> started = all;
      soon().untilAsserted(() -> assertThat(started).noneMatch(ProcessHandle::isAlive));
    } finally {
      all.forEach(ProcessHandle::destroyForcibly);
      processes(command).forEach(ProcessHandle::destroyForcibly);
    }
  }

  private Process start() throws IOException {
    assumeThat(FileSystems.getDefault().supportedFileAttributeViews())
        .as("scripts can be run")
        .contains("posix");
    Path shop = tree.resolve("examples/spring-boot-shop/shop");
    script(shop, Files.readString(Path.of("shop")));
    script(tree.resolve("tools/mvn"), MVN);
    ProcessBuilder builder =
        new ProcessBuilder("bash", shop.toString())
            .redirectErrorStream(true)
            .redirectOutput(tree.resolve("output").toFile());
    builder.environment().put("PATH", tree.resolve("tools") + ":" + System.getenv("PATH"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("SHOP_CLASS_PATH", System.getProperty("java.class.path"));
    return builder.start();
  }

  private static void script(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private String output() throws IOException {
    return Files.readString(tree.resolve("output"));
  }

  /** Returns the command, the processes below it, and those that it printed. */
  private List<ProcessHandle> processes(Process command) throws IOException {
    Stream<ProcessHandle> printed =
        Stream.concat(printed(PAGE, 2).stream(), printed(NODE, 1).stream())
            .flatMap(pid -> ProcessHandle.of(Long.parseLong(pid)).stream());
    return Stream.of(Stream.of(command.toHandle()), command.descendants(), printed)
        .flatMap(Function.identity())
        .distinct()
        .toList();
  }

  private static boolean isAlive(String pid) {
    return ProcessHandle.of(Long.parseLong(pid)).filter(ProcessHandle::isAlive).isPresent();
  }

  private List<String> printed(Pattern pattern, int group) throws IOException {
    return pattern.matcher(output()).results().map(found -> found.group(group)).toList();
  }

  private static String page(String url) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + "/")).timeout(REQUEST_LIMIT).build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
  }
}
