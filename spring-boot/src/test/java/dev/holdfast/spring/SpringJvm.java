package dev.holdfast.spring;

import dev.holdfast.testsupport.ChildJvm;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A JVM of its own for a program of the tests.
 *
 * @param folder for its output
 * @param options of the JVM
 * @param before entries of the class path before those of this JVM
 * @param absent parts of the names of entries of this JVM's class path, without the folders that
 *     all have, that the other JVM does not have
 */
record SpringJvm(Path folder, List<String> options, List<Path> before, List<String> absent) {
  SpringJvm(Path folder) {
    this(folder, List.of(), List.of(), List.of());
  }

  SpringJvm withOptions(String... all) {
    return new SpringJvm(folder, List.of(all), before, absent);
  }

  SpringJvm withClassPath(Path... entries) {
    return new SpringJvm(folder, options, List.of(entries), absent);
  }

  SpringJvm without(List<String> parts) {
    return new SpringJvm(
        folder, options, before, Stream.concat(absent.stream(), parts.stream()).toList());
  }

  /** Returns the last three names: those of an artifact, or of a module's classes. */
  private static String endOf(String entry) {
    Path path = Path.of(entry);
    int count = path.getNameCount();
    return path.subpath(Math.max(0, count - 3), count).toString();
  }

  /** Runs a program, and returns the lines that it printed. Fails as {@link ChildJvm#run} does. */
  List<String> run(Class<?> main, List<String> arguments) throws Exception {
    List<String> all = new ArrayList<>(options);
    all.add("-cp");
    all.add(
        Stream.concat(
                before.stream().map(Path::toString),
                Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                    .filter(entry -> absent.stream().noneMatch(endOf(entry)::contains)))
            .collect(Collectors.joining(File.pathSeparator)));
    all.add(main.getName());
    all.addAll(arguments);
    return ChildJvm.run(folder, all.toArray(String[]::new)).lines().toList();
  }
}
