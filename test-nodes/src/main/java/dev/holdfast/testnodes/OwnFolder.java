package dev.holdfast.testnodes;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;

/**
 * A folder in which no other user can write or put links. Only there can a file be looked at first
 * and executed then.
 *
 * @param owner this process's user
 */
record OwnFolder(Path path, UserPrincipal owner) {
  private static final Set<PosixFilePermission> OURS_ALONE =
      PosixFilePermissions.fromString("rwx------");

  /**
   * Makes the folder if it is not there.
   *
   * @throws IOException if it is a link, or another user's
   */
  static OwnFolder make(Path path) throws IOException {
    Files.createDirectories(path.getParent());
    if (!Files.exists(path, NOFOLLOW_LINKS)) {
      Files.createDirectory(path, PosixFilePermissions.asFileAttribute(OURS_ALONE));
    }
    if (!Files.isDirectory(path, NOFOLLOW_LINKS)) {
      throw new IOException(path + " is a link, or no folder: delete it");
    }
    UserPrincipal owner = owner(path);
    if (!Files.getOwner(path, NOFOLLOW_LINKS).equals(owner)) {
      throw new IOException(
          path + " belongs to another user: have it deleted, or set XDG_CACHE_HOME");
    }
    Files.setPosixFilePermissions(path, OURS_ALONE);
    return new OwnFolder(path, owner);
  }

  /** Returns whether a file there is ours, no link, and executable only by us. */
  boolean hasExecutable(Path file) throws IOException {
    return Files.isRegularFile(file, NOFOLLOW_LINKS)
        && Files.getOwner(file, NOFOLLOW_LINKS).equals(owner)
        && Files.getPosixFilePermissions(file, NOFOLLOW_LINKS).equals(OURS_ALONE);
  }

  /** Permits to this user alone what it can be asked for. */
  void makeExecutable(Path file) throws IOException {
    Files.setPosixFilePermissions(file, OURS_ALONE);
  }

  /**
   * Returns the owner of a new file, which is this process's user. The user may have a number and
   * no name, as in a container.
   */
  private static UserPrincipal owner(Path folder) throws IOException {
    Path file = Files.createTempFile(folder, "owner-", "");
    try {
      return Files.getOwner(file);
    } finally {
      Files.deleteIfExists(file);
    }
  }
}
