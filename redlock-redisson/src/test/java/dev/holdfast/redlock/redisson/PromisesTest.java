package dev.holdfast.redlock.redisson;

import static dev.holdfast.testsupport.Eventually.soon;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.drivertests.Connections;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.drivertests.PromisesContract;
import dev.holdfast.testsupport.FaultProxy;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Links.Kind.class)
class PromisesTest extends PromisesContract {
  PromisesTest(Links.Kind kind) {
    super(uris -> Links.over(kind, uris));
  }

  /** Redisson would, a tenth of a second later. */
  @Test
  void aConnectionThatEndedIsNotMadeAgain() throws Exception {
    AtomicInteger ends = driver.connect(0);
    server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    soon().until(() -> ends.get() == 1);
    soon().during(Duration.ofMillis(500)).until(() -> Connections.to(server) == 0);
  }

  /** Redisson would wait for the answer to what it says first, and try again meanwhile. */
  @Test
  void aConnectionThatEndsWhileItIsMadeFailsAtOnceAndIsNotMadeAgain() throws Exception {
    try (FaultProxy proxy = new FaultProxy(server.host(), server.port());
        Driver behind = over(proxy.uri() + "/1")) {
      proxy.loseReplies(true);
      AtomicInteger ends = new AtomicInteger();
      long start = System.nanoTime();
      CompletableFuture<Void> attempt = behind.first().connect(0, ends::incrementAndGet);
      soon().until(() -> Connections.to(server) == 1);
      proxy.cut();
      proxy.loseReplies(false);

      assertThatThrownBy(() -> attempt.get(10, SECONDS))
          .satisfiesAnyOf( // the core has the words for the second
              failure -> assertThat(failure).hasMessageContaining("the connection ended"),
              failure -> assertThat(failure).hasRootCauseInstanceOf(ClosedChannelException.class));
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
      soon().during(Duration.ofMillis(500)).until(() -> Connections.to(server) == 0);
      assertThat(ends).hasValue(0);
    }
  }

  @Test
  void aNodeWhoseNameIsUnknownIsNotConnectedAndHoldsUpNoOther() throws Exception {
    try (Driver named = over("redis://no-such-host.invalid:1", server.uri())) {
      CompletableFuture<Void> unknown = named.first().connect(0, () -> {});
      named.connect(1);
      named.first().disconnect(0);
      assertThatThrownBy(() -> unknown.get(10, SECONDS)).isNotNull();
    }
  }
}
