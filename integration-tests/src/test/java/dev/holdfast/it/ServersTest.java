package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import org.junit.jupiter.api.Test;

/** Which servers the suite runs on, said in its output. */
class ServersTest {
  @Test
  void theServersAreOfASupportedVersion() {
    try (TestNodes nodes = TestNodes.start(1)) {
      TestNode node = nodes.node(0);
      String info = String.valueOf(node.command("INFO", "server"));
      String name = info.contains("valkey_version:") ? "valkey" : "redis";

      System.out.println("server versions: " + name + " " + node.version());

      assertThat(info).contains(name + "_version:" + node.version() + "\r\n");
      assertThat(node.version()).matches("6\\.[2-9].*|([7-9]|\\d\\d)\\..*");
    }
  }
}
