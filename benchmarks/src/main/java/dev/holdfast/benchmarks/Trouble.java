package dev.holdfast.benchmarks;

import dev.holdfast.testnodes.TestNode;
import java.time.Duration;

/** A fault of a server. */
enum Trouble {
  /** It accepts connections, and answers nothing. */
  FROZEN("frozen") {
    @Override
    void begin(TestNode node, SlowProxy link) {
      node.freeze();
    }

    @Override
    void end(TestNode node, SlowProxy link) {
      node.thaw();
    }
  },

  /** Its replies are late. */
  SLOW("slow by 20 ms") {
    @Override
    void begin(TestNode node, SlowProxy link) {
      link.late(LATE);
    }

    @Override
    void end(TestNode node, SlowProxy link) {
      link.late(Duration.ZERO);
    }
  },

  /** There is no process. */
  DEAD("dead") {
    @Override
    void begin(TestNode node, SlowProxy link) {
      node.kill();
    }

    @Override
    void end(TestNode node, SlowProxy link) {
      node.restart();
      node.vouch(0);
    }
  };

  private static final Duration LATE = Duration.ofMillis(20);

  private final String words;

  Trouble(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }

  abstract void begin(TestNode node, SlowProxy link);

  abstract void end(TestNode node, SlowProxy link);
}
