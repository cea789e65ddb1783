package dev.holdfast.cli.backend;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Stream;

/**
 * The origin of a class.
 *
 * @param path the jar or folder
 * @param version the version in its manifest, or empty if there is none
 */
public record Origin(Path path, Optional<String> version) {
  private static final Attributes.Name BUNDLE_VERSION = new Attributes.Name("Bundle-Version");

  public static Optional<Origin> of(Class<?> type) {
    return Optional.ofNullable(type.getProtectionDomain().getCodeSource())
        .map(CodeSource::getLocation)
        .map(
            location -> {
              try {
                Path path = Path.of(location.toURI());
                return new Origin(path, version(path));
              } catch (URISyntaxException | IllegalArgumentException e) {
                return new Origin(Path.of(location.getPath()), Optional.empty());
              }
            });
  }

  private static Optional<String> version(Path path) {
    if (Files.isDirectory(path)) {
      return Optional.empty();
    }
    try (JarFile jar = new JarFile(path.toFile())) {
      return Optional.ofNullable(jar.getManifest())
          .map(Manifest::getMainAttributes)
          .flatMap(
              main ->
                  Stream.of(Attributes.Name.IMPLEMENTATION_VERSION, BUNDLE_VERSION)
                      .flatMap(name -> Optional.ofNullable(main.getValue(name)).stream())
                      .findFirst())
          // Some append the commit.
          .map(version -> version.replaceFirst("/.*", ""));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Returns the name without the folder, which is private to this machine. */
  public String file() {
    String file = String.valueOf(path.getFileName());
    return version.filter(v -> !file.contains(v)).map(v -> file + " (" + v + ")").orElse(file);
  }

  String text() {
    return path + version.map(v -> " (" + v + ")").orElse("");
  }

  /** Returns the members of a JSON object. */
  Map<String, Object> members() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("jar", path);
    version.ifPresent(v -> members.put("version", v));
    return members;
  }
}
