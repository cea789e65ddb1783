package dev.holdfast.testnodes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FoldersTest {
  @TempDir private Path parent;

  @Test
  void aFolderIsDeletedThoughAThreadStillWritesIntoIt() throws Exception {
    Path folder = Files.createDirectory(parent.resolve("folder"));
    AtomicInteger left = new AtomicInteger(300);
    Thread writer =
        new Thread(
            () -> {
              while (left.getAndDecrement() > 0 && Files.exists(folder)) {
                try {
                  Files.writeString(folder.resolve("file-" + left.get()), "x");
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              }
            });
    writer.setUncaughtExceptionHandler((thread, gone) -> {});
    writer.start();
    Folders.delete(folder);
    writer.join(5_000);
    Folders.delete(folder);

    assertThat(folder).doesNotExist();
  }
}
