package dev.holdfast.simulation;

import dev.holdfast.simulation.Flaw.Edit;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * Loads the core and the simulator once more, with the classes of a mutant in the place of those
 * that they were changed from. Other classes never see them.
 */
final class MutantLoader extends ClassLoader {
  private static final String OURS = "dev.holdfast.";

  private final Map<String, byte[]> changed;

  private MutantLoader(Map<String, byte[]> changed) {
    super(MutantLoader.class.getClassLoader());
    this.changed = changed;
  }

  /** Compiles a mutant from the sources below the root of the project. */
  static ClassLoader load(Flaw mutant, Path root) {
    return new MutantLoader(compile(mutant, changed(mutant, root)));
  }

  /**
   * Returns the changed sources of a mutant, by their files.
   *
   * @throws IllegalStateException if what a mutant replaces is not there exactly once
   */
  static Map<String, String> changed(Flaw mutant, Path root) {
    Map<String, String> sources = new LinkedHashMap<>();
    for (Edit edit : mutant.edits()) {
      String source = sources.computeIfAbsent(edit.file(), file -> read(root, file));
      int at = source.indexOf(edit.before());
      if (at < 0 || source.indexOf(edit.before(), at + 1) >= 0) {
        throw new IllegalStateException(
            mutant.label()
                + ": its place in "
                + edit.file()
                + " is not there exactly once, correct the mutant: "
                + edit.before());
      }
      sources.put(edit.file(), source.replace(edit.before(), edit.after()));
    }
    return sources;
  }

  private static String read(Path root, String file) {
    String folder = file.substring(0, file.indexOf('/'));
    String module = folder.equals("redlock") ? "redlock-core" : folder;
    Path path = root.resolve(module + "/src/main/java/dev/holdfast/" + file + ".java");
    try {
      return Files.readString(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, byte[]> compile(Flaw mutant, Map<String, String> sources) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    InMemory files = new InMemory(compiler.getStandardFileManager(null, null, null));
    StringWriter messages = new StringWriter();
    List<Source> units =
        sources.entrySet().stream().map(e -> new Source(e.getKey(), e.getValue())).toList();
    List<String> options =
        List.of("-proc:none", "-nowarn", "-cp", System.getProperty("java.class.path"));
    if (!compiler.getTask(messages, files, null, options, null, units).call()) {
      throw new IllegalStateException(mutant.label() + " does not compile: " + messages);
    }
    Map<String, byte[]> classes = new HashMap<>();
    files.written.forEach((name, bytes) -> classes.put(name, bytes.toByteArray()));
    return classes;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(OURS)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? findClass(name) : loaded;
    }
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    byte[] bytes = changed.getOrDefault(name, original(name));
    if (bytes == null) {
      throw new ClassNotFoundException(name);
    }
    return defineClass(name, bytes, 0, bytes.length);
  }

  private byte @Nullable [] original(String name) {
    try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
      return in == null ? null : in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String file, String text) {
      super(URI.create("string:///dev/holdfast/" + file + ".java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private static final class InMemory extends ForwardingJavaFileManager<JavaFileManager> {
    private final Map<String, ByteArrayOutputStream> written = new HashMap<>();

    InMemory(JavaFileManager manager) {
      super(manager);
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        Location location, String name, JavaFileObject.Kind kind, @Nullable FileObject sibling) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      written.put(name, bytes);
      return new SimpleJavaFileObject(URI.create("mem:///" + name + ".class"), kind) {
        @Override
        public OutputStream openOutputStream() {
          return Objects.requireNonNull(bytes);
        }
      };
    }
  }
}
