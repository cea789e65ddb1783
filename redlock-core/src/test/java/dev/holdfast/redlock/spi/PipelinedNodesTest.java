package dev.holdfast.redlock.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Nodes that cannot be made leave nothing open. */
class PipelinedNodesTest {
  private final IllegalStateException cause = new IllegalStateException("no node");

  private final AtomicInteger closed = new AtomicInteger();

  @Test
  void aNodeThatCannotBeMadeClosesWhatTheDriverHasMade() {
    Stream<FakeNode> nodes =
        Stream.of(1, 2)
            .map(
                number -> {
                  if (number == 2) {
                    throw cause;
                  }
                  return new FakeNode();
                });

    assertThatThrownBy(() -> over(nodes, closed::incrementAndGet)).isSameAs(cause);
    assertThat(closed).hasValue(1);
  }

  @Test
  void aNodeWithoutAWayToASecondConnectionDoesSoToo() {
    FakeNode node =
        new FakeNode() {
          @Override
          public RedisNode<String> second() {
            throw cause;
          }
        };

    assertThatThrownBy(() -> over(Stream.of(node), closed::incrementAndGet)).isSameAs(cause);
    assertThat(closed).hasValue(1);
  }

  @Test
  void theFirstFailureIsReportedThoughClosingFailsToo() {
    IllegalStateException first = new IllegalStateException("first");
    IllegalStateException second = new IllegalStateException("second");
    Stream<FakeNode> nodes =
        Stream.of(1)
            .map(
                number -> {
                  throw first;
                });

    assertThatThrownBy(
            () ->
                over(
                    nodes,
                    () -> {
                      throw second;
                    }))
        .isSameAs(first)
        .hasSuppressedException(second);
  }

  private static PipelinedNodes<String> over(Stream<FakeNode> nodes, Runnable afterClose) {
    return new PipelinedNodes<>(nodes, command -> command.words().get(0), afterClose);
  }

  private static class FakeNode implements RedisNode<String> {
    @Override
    public String address() {
      return "h1:6379";
    }

    @Override
    public void connect(CommandConnection<String> connection) {
      throw new AssertionError("nothing is connected");
    }
  }
}
