package dev.holdfast.project;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The public and protected members of each published module against the module's {@code
 * PublicAPI.txt}, so that every change of API is a line in a diff. {@code -Dholdfast.write} writes
 * the files.
 */
class PublicApiTest {
  private static final Pattern EXPORTS = Pattern.compile("(?m)^ *exports ([\\w.]+);");
  private static final Pattern SOURCE = Pattern.compile("Compiled from [^\\n]*\\n");
  private static final String OBJECT = "  public java.lang.Object ";
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");

  /** The kit's tests, which are public only for the class that a backend's author extends. */
  private static final String RULES = "dev.holdfast.tck.rules";

  static Stream<Path> modules() {
    return Modules.withPublicApi();
  }

  @ParameterizedTest
  @MethodSource("modules")
  void thePublicApiIsTheCommittedOne(Path module) throws IOException {
    Path file = module.resolve("PublicAPI.txt");
    String api = apiOf(module);
    if (System.getProperty("holdfast.write") != null) {
      Files.writeString(file, api);
    }

    assertThat(api)
        .as(
            "%s; mvn test -pl project-tests -am -Dtest=PublicApiTest -Dholdfast.write"
                + " -Dsurefire.failIfNoSpecifiedTests=false writes it",
            file)
        .isEqualTo(Files.readString(file));
  }

  /** Lists the types of exported packages, as {@code javap} shows them, in alphabetical order. */
  private static String apiOf(Path module) throws IOException {
    Path classes = module.resolve("target/classes");
    List<Path> types = new ArrayList<>();
    for (String name : exported(module)) {
      try (Stream<Path> files = Files.list(classes.resolve(name.replace('.', '/')))) {
        files
            .filter(file -> file.toString().endsWith(".class"))
            .filter(file -> !file.endsWith("package-info.class"))
            .forEach(types::add);
      }
    }
    return describe(types.stream().sorted().map(Path::toString).toList());
  }

  private static List<String> exported(Path module) throws IOException {
    Path sources = module.resolve("src/main/java");
    Path descriptor = sources.resolve("module-info.java");
    if (Files.exists(descriptor)) {
      return matches(EXPORTS, Files.readString(descriptor));
    }
    try (Stream<Path> files = Files.walk(sources)) {
      List<Path> all = files.filter(file -> file.endsWith("package-info.java")).sorted().toList();
      List<String> names = new ArrayList<>();
      for (Path file : all) {
        names.addAll(matches(PACKAGE, Files.readString(file)));
      }
      names.remove(RULES);
      return names;
    }
  }

  private static List<String> matches(Pattern pattern, String text) {
    return pattern.matcher(text).results().map((MatchResult found) -> found.group(1)).toList();
  }

  /** Runs javap once, whose text of each type begins with the name of the source file. */
  private static String describe(List<String> types) {
    StringWriter out = new StringWriter();
    PrintWriter print = new PrintWriter(out);
    List<String> arguments = new ArrayList<>(List.of("-protected"));
    arguments.addAll(types);
    ToolProvider.findFirst("javap")
        .orElseThrow()
        .run(print, print, arguments.toArray(String[]::new));
    print.flush();
    StringBuilder api = new StringBuilder();
    for (String type : SOURCE.split(out.toString(), -1)) {
      if (type.startsWith("public ") || type.startsWith("protected ")) {
        api.append(withoutBridges(type)).append('\n');
      }
    }
    return api.toString();
  }

  /** Removes the compiler's methods that return an Object beside those of the same parameters. */
  private static String withoutBridges(String type) {
    List<String> erased = type.lines().map(PublicApiTest::erasure).toList();
    return type.lines()
        .filter(
            line ->
                !line.startsWith(OBJECT)
                    || erased.stream()
                            .filter(other -> other.endsWith(line.substring(OBJECT.length() - 1)))
                            .count()
                        == 1)
        .map(line -> line + "\n")
        .collect(Collectors.joining());
  }

  private static String erasure(String line) {
    String erased = line.replaceAll("<[^<>]*>", "");
    return erased.equals(line) ? line : erasure(erased);
  }
}
