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
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import redis.embedded.core.ExecutableProvider;
import redis.embedded.model.OsArchitecture;

/** The server in embedded-redis's jar, copied once to where it can be executed. */
final class EmbeddedBinary {
  /** Bytes of the digest in the file's name, so that versions do not replace one another. */
  private static final int NAME_BYTES = 8;

  private EmbeddedBinary() {}

  static Path extracted() {
    try {
      return extracted(folder());
    } catch (IOException e) {
      throw new NodeException(
          "Cannot copy the embedded redis-server to a folder for temporary files: " + e, e);
    }
  }

  /** Copies it there, unless it is there already, byte by byte. */
  static Path extracted(OwnFolder folder) throws IOException {
    URL resource = resource();
    byte[] digest = digest(open(resource));
    String name = Path.of(resource.getPath()).getFileName().toString();
    Path file = folder.path().resolve(name + "-" + HexFormat.of().formatHex(digest, 0, NAME_BYTES));
    if (!folder.hasExecutable(file)
        || !MessageDigest.isEqual(digest, digest(Files.newInputStream(file, NOFOLLOW_LINKS)))) {
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

  private static byte[] digest(InputStream content) throws IOException {
    try (InputStream in = content) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      in.transferTo(new DigestOutputStream(OutputStream.nullOutputStream(), digest));
      return digest.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
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

  /** A copy appears under its name whole or not at all. */
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
