package dev.holdfast.testnodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Another JVM that does something with nodes. It runs {@link #main}. */
final class SecondJvm implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;

  private SecondJvm(Process process) {
    this.process = process;
    this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
  }

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "own" -> {
        TestNodes nodes = TestNodes.start(3);
        nodes.node(1).freeze();
        nodes.node(2).kill();
        print(directoryOf(nodes.node(0)), nodes.node(0).pid(), nodes.node(1).pid());
        waitForParent();
      }
      case "start-at-the-end" ->
          Runtime.getRuntime()
              .addShutdownHook(
                  new Thread(
                      () -> {
                        try {
                          print(directoryOf(TestNodes.start(1).node(0)));
                        } catch (NodeException e) {
                          print(String.valueOf(e.getMessage()));
                        }
                      }));
      case "containers" -> {
        TestNodes nodes = TestNodes.builder().count(2).source(NodeSource.containers()).start();
        nodes.node(1).freeze();
        print(DockerEngine.THIS_JVM);
        waitForParent();
      }
      case "default" -> {
        try (TestNodes nodes = TestNodes.start(1)) {
          print(nodes.node(0).version());
        } catch (NodeException e) {
          print(String.valueOf(e.getMessage()));
        }
      }
      case "start-detached" ->
          print(TestNodes.builder().count(2).directory(Path.of(args[1])).detached().start().uris());
      case "freeze" ->
          TestNodes.attach(Path.of(args[1])).orElseThrow().node(Integer.parseInt(args[2])).freeze();
      case "extract" -> {
        System.setProperty("java.io.tmpdir", args[1]);
        print(EmbeddedBinary.extracted());
      }
      default -> throw new IllegalArgumentException(Arrays.toString(args));
    }
  }

  static SecondJvm run(String... args) {
    return run(Map.of(), args);
  }

  static SecondJvm run(Map<String, String> environment, String... args) {
    return run(environment, System.getProperty("java.class.path"), List.of(), args);
  }

  static SecondJvm run(
      Map<String, String> environment, String classPath, List<String> options, String... args) {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    List<String> command =
        new ArrayList<>(List.of(java, "-XX:TieredStopAtLevel=1", "-cp", classPath));
    command.addAll(options);
    command.add(SecondJvm.class.getName());
    command.addAll(Arrays.asList(args));
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(Redirect.INHERIT);
    builder.environment().putAll(environment);
    try {
      return new SecondJvm(builder.start());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  static String directoryOf(TestNode node) {
    return node.command("CONFIG", "GET", "dir") instanceof List<?> reply
        ? String.valueOf(reply.get(1))
        : "";
  }

  /** The words of its next line. */
  String[] readLine() throws IOException {
    String line = output.readLine();
    if (line == null) {
      throw new AssertionError("the second JVM ended without saying what it was to say");
    }
    return line.split(" ");
  }

  void sendEnd() throws IOException {
    process.getOutputStream().close();
  }

  void sigkill() {
    process.destroyForcibly();
  }

  int awaitExitCode() throws InterruptedException {
    if (!process.waitFor(20, TimeUnit.SECONDS)) {
      throw new AssertionError("the second JVM does not end");
    }
    return process.exitValue();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  private static void print(Object... words) {
    System.out.println(
        String.join(" ", Arrays.stream(words).map(String::valueOf).toArray(String[]::new)));
  }

  private static void waitForParent() throws IOException {
    while (System.in.read() >= 0) {
      // Only the end of the input counts.
    }
  }
}
