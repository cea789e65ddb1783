package dev.holdfast.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.drivertests.Asked;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A fake sender that takes tasks and drops them, as an event loop may while it is shut down. */
class DroppedTaskTest {
  private final RedisClient client = RedisClient.create();
  private final AtomicBoolean drops = new AtomicBoolean();
  private final AtomicReference<Asked> askedMeanwhile = new AtomicReference<>();

  @Test
  void whatTheSenderDropsWhenItIsShutDownFails() {
    AtomicReference<LettuceNodes> closing = new AtomicReference<>();
    LettuceNodes nodes =
        nodes(
            () -> {
              drops.set(true);
              askedMeanwhile.set(Asked.of(Objects.requireNonNull(closing.get()), "return 1"));
            });
    closing.set(nodes);
    try {
      nodes.close();

      assertThat(Objects.requireNonNull(askedMeanwhile.get()).failure())
          .hasMessage("not connected");
      assertThat(Asked.of(nodes, "return 1").failure()).hasMessage("not connected");
    } finally {
      client.shutdown();
    }
  }

  private LettuceNodes nodes(Runnable afterClose) {
    RedisURI uri = RedisURI.create("127.0.0.1", 1);
    return new LettuceNodes(
        List.of(new LettuceNode(0, client, uri), new LettuceNode(1, client, uri)),
        task -> {
          if (!drops.get()) {
            task.run();
          }
        },
        afterClose);
  }
}
