package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LocalNodesTest {
  @Test
  void areKeptWhereOneSaysElseWhereStateIsKept() {
    assertThat(LocalNodes.folder(Map.of("HOLDFAST_STATE", "/own", "XDG_STATE_HOME", "/xdg")))
        .isEqualTo(Path.of("/own/nodes"));
    assertThat(LocalNodes.folder(Map.of("XDG_STATE_HOME", "/xdg", "HOLDFAST_STATE", "")))
        .isEqualTo(Path.of("/xdg/holdfast/nodes"));
    assertThat(LocalNodes.folder(Map.of("XDG_STATE_HOME", "")))
        .isEqualTo(Path.of(System.getProperty("user.home"), ".local/state/holdfast/nodes"));
  }
}
