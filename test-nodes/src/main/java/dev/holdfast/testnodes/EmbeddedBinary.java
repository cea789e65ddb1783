package dev.holdfast.testnodes;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import redis.embedded.core.ExecutableProvider;
import redis.embedded.model.OsArchitecture;

/** The server in embedded-redis's jar, copied once to where it can be executed. */
final class EmbeddedBinary {
  private EmbeddedBinary() {}

  static Path extracted() {
    URL resource = resource();
    try {
      URLConnection connection = resource.openConnection();
      // A shared, cached jar file could be closed by its other users while we read.
      connection.setUseCaches(false);
      long size = connection.getContentLengthLong();
      try (InputStream in = connection.getInputStream()) {
        String name = Path.of(resource.getPath()).getFileName().toString();
        Path file = folder().resolve(name + "-" + size);
        // A copy appears under its name whole or not at all; the size is for what befell it later.
        if (!Files.isExecutable(file) || Files.size(file) != size) {
          copy(in, file);
        }
        return file;
      }
    } catch (IOException e) {
      throw new NodeException(
          "Cannot copy the embedded redis-server to a folder for temporary files: " + e, e);
    }
  }

  private static URL resource() {
    String why;
    try {
      String name =
          ExecutableProvider.newProvidedVersionsMap().get(OsArchitecture.detectOSandArchitecture());
      URL resource = name == null ? null : ExecutableProvider.class.getResource(name);
      if (resource != null) {
        return resource;
      }
      why = "";
    } catch (RuntimeException e) {
      // Its way to say that it does not know this system.
      why = " (" + e + ")";
    }
    throw new NodeException(
        "embedded-redis has no redis-server for "
            + System.getProperty("os.name")
            + " on "
            + System.getProperty("os.arch")
            + why
            + ". "
            + ServerBinary.WHAT_ELSE_WOULD_SERVE);
  }

  private static void copy(InputStream in, Path file) throws IOException {
    Path whole = Files.createTempFile(file.getParent(), "copying-", "");
    try {
      Files.copy(in, whole, StandardCopyOption.REPLACE_EXISTING);
      Files.setPosixFilePermissions(whole, PosixFilePermissions.fromString("rwxr-xr-x"));
      Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(whole);
    }
  }

  private static Path folder() throws IOException {
    String cache = System.getenv("XDG_CACHE_HOME");
    Path caches =
        cache == null || cache.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".cache")
            : Path.of(cache);
    try {
      return Files.createDirectories(caches.resolve("holdfast"));
    } catch (IOException e) {
      return ownTemporaryFolder();
    }
  }

  /** For a home that cannot be written. Another user's file there would be executed as ours. */
  private static Path ownTemporaryFolder() throws IOException {
    String user = System.getProperty("user.name");
    Path folder = Path.of(System.getProperty("java.io.tmpdir"), "holdfast-" + user);
    if (!Files.exists(folder)) {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    if (!Files.getOwner(folder).getName().equals(user)) {
      throw new IOException(folder + " belongs to another user");
    }
    return folder;
  }
}
