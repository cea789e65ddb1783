package dev.holdfast.testnodes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Another user may write where the server is copied to, as in /tmp. */
class EmbeddedBinaryTest {
  private static final String OTHER_USER = "65534";

  @TempDir Path shared;

  @Test
  void folderAndFileAreOursAlone() throws IOException {
    Path file = EmbeddedBinary.extracted(OwnFolder.make(shared.resolve("ours")));

    assertThat(permissions(shared.resolve("ours"))).isEqualTo("rwx------");
    assertThat(permissions(file)).isEqualTo("rwx------");
    assertThat(ServerBinary.probe(file).version()).isNotEmpty();
  }

  @Test
  void theSameFileIsUsedAgain() throws IOException {
    Path file = EmbeddedBinary.extracted(OwnFolder.make(shared.resolve("ours")));
    Object key = key(file);

    assertThat(EmbeddedBinary.extracted(OwnFolder.make(shared.resolve("ours")))).isEqualTo(file);
    assertThat(key(file)).isEqualTo(key);
  }

  @Test
  void aFileOfTheSameSizeWithOtherBytesIsReplaced() throws IOException {
    EmbeddedBinary.extracted(OwnFolder.make(shared.resolve("ours")));
    Path file = EmbeddedBinary.extracted(OwnFolder.make(shared.resolve("ours"))); // looks at it
    byte[] good = Files.readAllBytes(file);
    byte[] bad = good.clone();
    bad[bad.length / 2] ^= 1;
    Files.write(file, bad);

    EmbeddedBinary.extracted(OwnFolder.make(shared.resolve("ours")));

    assertThat(Files.readAllBytes(file)).isEqualTo(good);
  }

  @Test
  void aFileThatOthersCouldWriteIsReplaced() throws IOException {
    Path file = EmbeddedBinary.extracted(OwnFolder.make(shared.resolve("ours")));
    Object key = key(file);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxrwxrwx"));

    EmbeddedBinary.extracted(OwnFolder.make(shared.resolve("ours")));

    assertThat(permissions(file)).isEqualTo("rwx------");
    assertThat(key(file)).isNotEqualTo(key);
  }

  @Test
  void aLinkInPlaceOfTheFileIsReplacedAndItsTargetLeft() throws IOException {
    Path file = EmbeddedBinary.extracted(OwnFolder.make(shared.resolve("ours")));
    Path target = Files.move(file, shared.resolve("target"));
    Files.createSymbolicLink(file, target);

    EmbeddedBinary.extracted(OwnFolder.make(shared.resolve("ours")));

    assertThat(file).isRegularFile();
    assertThat(Files.isSymbolicLink(file)).isFalse();
    assertThat(target).exists();
  }

  @Test
  void aFolderThatOthersCouldWriteIsClosedToThem() throws IOException {
    Path ours = Files.createDirectory(shared.resolve("ours"));
    Files.setPosixFilePermissions(ours, PosixFilePermissions.fromString("rwxrwxrwx"));

    OwnFolder.make(ours);

    assertThat(permissions(ours)).isEqualTo("rwx------");
  }

  @Test
  void aLinkInPlaceOfTheFolderIsRefused() throws IOException {
    Path elsewhere = Files.createDirectory(shared.resolve("elsewhere"));
    Path link = Files.createSymbolicLink(shared.resolve("link"), elsewhere);

    assertThatThrownBy(() -> OwnFolder.make(link))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(link + " is a link");
    assertThat(elsewhere).isEmptyDirectory();
  }

  @Test
  void aLinkThatAnotherUserHasMadeIsRefused() throws Exception {
    Path link = openToAll().resolve("holdfast-root");
    asOther("ln", "-s", Files.createDirectory(shared.resolve("elsewhere")).toString(), "" + link);

    assertThatThrownBy(() -> OwnFolder.make(link)).hasMessageContaining(link + " is a link");
  }

  @Test
  void aFolderThatAnotherUserHasMadeIsRefused() throws Exception {
    Path theirs = openToAll().resolve("holdfast-root");
    asOther("mkdir", "-m", "777", theirs.toString());

    assertThatThrownBy(() -> OwnFolder.make(theirs))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(theirs + " belongs to another user");
    assertThat(theirs).isEmptyDirectory();
  }

  @Test
  void aFileThatAnotherUserHasMadeIsReplacedThoughItsBytesAreRight() throws Exception {
    Path ours = openToAll().resolve("ours");
    Path file = EmbeddedBinary.extracted(OwnFolder.make(ours));
    Path copy = Files.copy(file, shared.resolve("copy"));
    Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("r--r--r--"));
    Files.delete(file);
    Files.setPosixFilePermissions(ours, PosixFilePermissions.fromString("rwxrwxrwx"));
    asOther("cp", copy.toString(), file.toString());
    asOther("chmod", "700", file.toString());

    EmbeddedBinary.extracted(OwnFolder.make(ours));

    assertThat(Files.getOwner(file)).isEqualTo(Files.getOwner(ours));
  }

  @Test
  void anotherUsersLinkInTheTemporaryFolderIsNotFollowedWhereThereIsNoHome() throws Exception {
    Path link = openToAll().resolve("holdfast-root");
    Path elsewhere = Files.createDirectory(shared.resolve("elsewhere"));
    Files.setPosixFilePermissions(elsewhere, PosixFilePermissions.fromString("rwxrwxrwx"));
    asOther("ln", "-s", elsewhere.toString(), link.toString());
    List<String> command = new ArrayList<>(List.of("env", "XDG_CACHE_HOME=/dev/null/none"));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Djava.io.tmpdir=" + shared);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(Extracting.class.getName());

    Process java = new ProcessBuilder(command).redirectErrorStream(true).start();
    String out = new String(java.getInputStream().readAllBytes(), UTF_8);

    assertThat(java.waitFor()).isEqualTo(1);
    assertThat(out).contains(link + " is a link");
    assertThat(elsewhere).isEmptyDirectory();
  }

  /** A program that copies the server to where it is copied by default. */
  static final class Extracting {
    private Extracting() {}

    public static void main(String[] args) {
      System.out.println(EmbeddedBinary.extracted());
    }
  }

  private Path openToAll() throws IOException {
    Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
    return shared;
  }

  private static void asOther(String... command) throws Exception {
    assumeThat(System.getProperty("user.name")).as("who can be another user").isEqualTo("root");
    List<String> all =
        new ArrayList<>(List.of("setpriv", "--reuid=" + OTHER_USER, "--clear-groups"));
    all.addAll(List.of(command));
    assertThat(new ProcessBuilder(all).inheritIO().start().waitFor()).isZero();
  }

  private static Object key(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }
}
