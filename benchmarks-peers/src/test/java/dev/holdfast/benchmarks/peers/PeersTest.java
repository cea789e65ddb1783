package dev.holdfast.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PeersTest {
  @Test
  void aReportNamesTheVersionOfEachPeer() {
    assertThat(new Peers().versions())
        .hasSize(2)
        .allSatisfy((peer, version) -> assertThat(version).as(peer).matches("\\d+\\.\\d+.*"));
  }
}
