package dev.holdfast.testnodes;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;
import redis.embedded.model.OsArchitecture;

/** The server in embedded-redis's jar, copied once to where it can be executed. */
final class EmbeddedBinary {
  private static final PerFile<Long> CHECKSUMS = new PerFile<>();
  private static final AtomicReference<@Nullable Long> ORIGINAL = new AtomicReference<>();

  private EmbeddedBinary() {}

  static Path extracted() {
    try {
      return extracted(folder());
    } catch (IOException e) {
      throw new NodeException(
          "Cannot copy the embedded redis-server to a folder for temporary files: " + e, e);
    }
  }

  /** Copies it there, unless it is there already and whole. */
  static Path extracted(OwnFolder folder) throws IOException {
    URL resource = resource();
    String name = Path.of(resource.getPath()).getFileName().toString();
    long original = original(resource);
    // The number in the name keeps versions from replacing one another.
    Path file = folder.path().resolve(String.format("%s-%08x", name, original));
    if (!folder.hasExecutable(file) || checksum(file) != original) {
      copy(resource, folder, file);
    }
    return file;
  }

  private static InputStream open(URL resource) throws IOException {
    URLConnection connection = resource.openConnection();
    // A shared, cached jar file could be closed by its other users while we read.
    connection.setUseCaches(false);
    return connection.getInputStream();
  }

  private static long checksum(Path file) throws IOException {
    return CHECKSUMS.get(file, () -> checksum(Files.newInputStream(file, NOFOLLOW_LINKS)));
  }

  /** Detects a copy that is not whole. Against other users, the folder's rights protect it. */
  private static long checksum(InputStream content) throws IOException {
    try (CheckedInputStream in = new CheckedInputStream(content, new CRC32())) {
      in.transferTo(OutputStream.nullOutputStream());
      return in.getChecksum().getValue();
    }
  }

  /** Returns the checksum of the resource, of ten megabytes, read once in each JVM. */
  private static long original(URL resource) throws IOException {
    Long known = ORIGINAL.get();
    if (known == null) {
      known = checksum(open(resource));
      ORIGINAL.set(known);
    }
    return known;
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

  /** Copies the executable. The file appears under its name only when it is complete. */
  private static void copy(URL resource, OwnFolder folder, Path file) throws IOException {
    Path whole = Files.createTempFile(folder.path(), "copying-", "");
    try (InputStream in = open(resource)) {
      Files.copy(in, whole, StandardCopyOption.REPLACE_EXISTING);
      folder.makeExecutable(whole);
      Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(whole);
    }
  }

  private static OwnFolder folder() throws IOException {
    String cache = System.getenv("XDG_CACHE_HOME");
    Path caches =
        cache == null || cache.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".cache")
            : Path.of(cache);
    try {
      return OwnFolder.make(caches.resolve("holdfast"));
    } catch (IOException e) {
      // A home that cannot be written, or is another user's, as under sudo.
      String user = System.getProperty("user.name");
      return OwnFolder.make(Path.of(System.getProperty("java.io.tmpdir"), "holdfast-" + user));
    }
  }
}
