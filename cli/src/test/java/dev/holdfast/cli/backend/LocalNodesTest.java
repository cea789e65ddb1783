package dev.holdfast.cli.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.cli.command.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalNodesTest {
  @Test
  void environmentVariablesChooseTheFolder(@TempDir Path folder) {
    String own = folder + "/own";
    String state = folder + "/xdg";
    assertThat(LocalNodes.folder(Map.of("HOLDFAST_STATE", own, "XDG_STATE_HOME", state)))
        .isEqualTo(folder.resolve("own/nodes"));
    assertThat(LocalNodes.folder(Map.of("XDG_STATE_HOME", state, "HOLDFAST_STATE", "")))
        .isEqualTo(folder.resolve("xdg/holdfast/nodes"));
  }

  @Test
  void defaultFolderIsInTheUsersHome() {
    Path home = Path.of(System.getProperty("user.home"));
    assumeThat(home).as("a home that can be written").isWritable();

    assertThat(LocalNodes.folder(Map.of("XDG_STATE_HOME", "")))
        .isEqualTo(home.resolve(".local/state/holdfast/nodes"));
  }

  @Test
  void unusableFolderIsAUsageErrorThatNamesTheVariable(@TempDir Path folder) throws IOException {
    Path file = Files.createFile(folder.resolve("file"));

    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> LocalNodes.folder(Map.of("HOLDFAST_STATE", file + "/deep/er")))
        .withMessageContainingAll("HOLDFAST_STATE is " + file + "/deep/er", file + " is no folder");
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> LocalNodes.folder(Map.of("XDG_STATE_HOME", "" + file)))
        .withMessageContainingAll("XDG_STATE_HOME is " + file, "HOLDFAST_STATE");
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> LocalNodes.folder(Map.of("HOLDFAST_STATE", "a\0b")))
        .withMessageContaining("that is no path");
    assertThat(LocalNodes.folder(Map.of("HOLDFAST_STATE", folder + "/new/er")))
        .isEqualTo(folder.resolve("new/er/nodes"));
  }
}
