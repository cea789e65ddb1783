package dev.holdfast.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** A small jar, compiled from source for one test. */
final class TestJar {
  private static final String SERVICE = "META-INF/services/dev.holdfast.spi.LockProvider";

  private final Path jar;
  private final Map<String, String> sources = new LinkedHashMap<>();
  private final List<Path> needed = new ArrayList<>();
  private String services = "";

  private TestJar(Path jar) {
    this.jar = jar;
  }

  /** This module, as it was compiled, as a jar of version 1.2.3. */
  static Path api(Path folder) {
    return packed(folder.resolve("holdfast-api.jar"), compiledApi());
  }

  static Path compiledApi() {
    try {
      return Path.of(LockManager.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  static Path copyOf(Path jar) throws IOException {
    return Files.copy(jar, jar.resolveSibling("copy-of-" + jar.getFileName()));
  }

  static TestJar named(Path jar) {
    return new TestJar(jar);
  }

  TestJar needing(Path... jars) {
    needed.addAll(List.of(jars));
    return this;
  }

  /** A class or a module-info. */
  TestJar source(String name, String text) {
    sources.put(name, text);
    return this;
  }

  /** Lines of {@code META-INF/services}. */
  TestJar services(String... lines) {
    services = String.join("\n", lines);
    return this;
  }

  Path build() {
    try {
      Path classes = Files.createTempDirectory(jar.getParent(), "classes");
      compile(classes);
      if (!services.isEmpty()) {
        Path file = classes.resolve(SERVICE);
        Files.createDirectories(file.getParent());
        Files.writeString(file, services);
      }
      return packed(jar, classes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void compile(Path classes) {
    if (sources.isEmpty()) {
      return;
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    String path =
        needed.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    StringWriter messages = new StringWriter();
    boolean compiled =
        compiler
            .getTask(
                messages,
                null,
                null,
                List.of(
                    sources.containsKey("module-info") ? "--module-path" : "-classpath",
                    path,
                    "--release",
                    "17",
                    "-d",
                    classes.toString()),
                null,
                sources.entrySet().stream().map(s -> file(s.getKey(), s.getValue())).toList())
            .call();
    assertThat(compiled).as(messages.toString()).isTrue();
  }

  private static JavaFileObject file(String name, String text) {
    URI uri = URI.create("string:///" + name.replace('.', '/') + ".java");
    return new SimpleJavaFileObject(uri, JavaFileObject.Kind.SOURCE) {
      @Override
      public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return text;
      }
    };
  }

  private static Path packed(Path jar, Path classes) {
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, "1.2.3");
    try (OutputStream out = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(out, manifest);
        Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        entries.putNextEntry(new JarEntry(classes.relativize(file).toString().replace('\\', '/')));
        Files.copy(file, entries);
        entries.closeEntry();
      }
      return jar;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
