package dev.holdfast.cli.command;

import dev.holdfast.cli.process.Jvm;
import dev.holdfast.spi.LockProvider;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.TypeConversionException;

/**
 * The class path of backends that do not come with this program.
 *
 * @param text as it was given
 * @param entries jars and folders, all of which are there
 */
public record ClassPath(String text, List<Path> entries) {
  static final String OPTION = "--class-path";

  private static final String ALL_JARS = "*";
  private static final String SERVICES = "META-INF/services/" + LockProvider.class.getName();

  /**
   * Lets backends that are there be found, from this thread and those that it starts.
   *
   * @param err receives a warning if there is no backend, which does not stop the command: an entry
   *     may be a library for one of its own
   */
  public void install(PrintWriter err) {
    Thread thread = Thread.currentThread();
    // Never closed: its classes are in use until the end.
    URLClassLoader loader =
        new URLClassLoader(
            entries.stream().map(ClassPath::url).toArray(URL[]::new),
            thread.getContextClassLoader());
    if (loader.findResource(SERVICES) == null) {
      err.println("holdfast: no backend in " + OPTION + ": no entry has a file " + SERVICES);
    }
    thread.setContextClassLoader(loader);
  }

  /**
   * Runs a command as if the entries stood on this program's own class path: needed if class
   * loaders would separate its classes, or if it starts processes with the same class path.
   *
   * @param command which was given this option
   */
  public int execute(CommandSpec command) throws IOException, ReflectiveOperationException {
    List<String> args = without(command.root().commandLine().getParseResult().originalArgs());
    String all =
        System.getProperty("java.class.path")
            + File.pathSeparator
            + entries.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    URL[] urls =
        Stream.of(all.split(Pattern.quote(File.pathSeparator), -1))
            .filter(entry -> !entry.isEmpty())
            .map(entry -> url(Path.of(entry)))
            .toArray(URL[]::new);
    System.setProperty("java.class.path", all);
    URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
    Thread.currentThread().setContextClassLoader(loader);
    Method main = loader.loadClass(Jvm.MAIN).getDeclaredMethod("execute", String[].class);
    main.setAccessible(true);
    return (int) main.invoke(null, (Object) args.toArray(String[]::new));
  }

  /** Leaves this option out of arguments. */
  private static List<String> without(List<String> args) {
    List<String> others = new ArrayList<>();
    for (int i = 0; i < args.size(); i++) {
      if (args.get(i).equals(OPTION)) {
        i++;
      } else if (!args.get(i).startsWith(OPTION + "=")) {
        others.add(args.get(i));
      }
    }
    return others;
  }

  private static URL url(Path entry) {
    try {
      return entry.toUri().toURL();
    } catch (IOException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** Reads what java's own option reads, but misses nothing silently. */
  static final class Converter implements ITypeConverter<ClassPath> {
    @Override
    public ClassPath convert(String text) {
      List<Path> entries = new ArrayList<>();
      for (String entry : text.split(Pattern.quote(File.pathSeparator), -1)) {
        if (entry.equals(ALL_JARS) || entry.endsWith(File.separator + ALL_JARS)) {
          entries.addAll(jarsIn(entry.substring(0, entry.length() - ALL_JARS.length())));
        } else {
          entries.add(jarOrFolder(entry));
        }
      }
      return new ClassPath(text, List.copyOf(entries));
    }

    private static List<Path> jarsIn(String folder) {
      try (Stream<Path> files = Files.list(Path.of(folder))) {
        List<Path> jars =
            files
                .filter(file -> file.toString().toLowerCase(Locale.ROOT).endsWith(".jar"))
                .sorted()
                .map(Converter::jar)
                .toList();
        if (jars.isEmpty()) {
          throw new TypeConversionException("there is no jar in '" + folder + "'");
        }
        return jars;
      } catch (IOException | InvalidPathException e) {
        throw new TypeConversionException("there is no folder '" + folder + "'");
      }
    }

    private static Path jarOrFolder(String entry) {
      if (entry.isEmpty()) {
        throw new TypeConversionException("an entry is empty: the folder that one is in is .");
      }
      try {
        Path path = Path.of(entry);
        return Files.isDirectory(path) ? path : jar(path);
      } catch (InvalidPathException e) {
        throw new TypeConversionException("'" + entry + "' is not a path");
      }
    }

    /** Class loaders pass over what they cannot read. */
    private static Path jar(Path file) {
      if (!Files.exists(file)) {
        throw new TypeConversionException("there is no '" + file + "'");
      }
      try (JarFile jar = new JarFile(file.toFile())) {
        return Path.of(jar.getName());
      } catch (IOException e) {
        throw new TypeConversionException(
            "'" + file + "' cannot be read as a jar: " + e.getMessage());
      }
    }
  }
}
