package dev.holdfast.redlock.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import dev.holdfast.drivertests.AwayContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.RedissonClient;

@ParameterizedClass
@EnumSource(
    value = Links.Kind.class,
    names = {"OWN_CLIENT", "YOUR_CLIENT"})
class AwayTest extends AwayContract {
  private final List<RedissonClient> clients = new ArrayList<>();
  private final RedissonRedlock.Builder builder;

  AwayTest(Links.Kind kind) {
    builder =
        Links.builder(kind, clients, servers.uris())
            .options(Links.PATIENT.nodeTimeout(NODE_TIMEOUT));
  }

  @Override
  protected LockManager open() {
    return builder.open();
  }

  @AfterEach
  void shutDownClients() {
    clients.forEach(YourClients::shutdown);
  }

  @Test
  void aNodeThatIsFrozenHoldsUpNoCall() throws InterruptedException {
    try (LockManager locks = open()) {
      locks.acquire("early", TTL).close();
      servers.node(3).freeze();
      int calls = 100;
      long start = System.nanoTime();
      for (int i = 0; i < calls; i++) {
        locks.acquire("without", TTL).close();
      }
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      assertThat(took).isLessThan(NODE_TIMEOUT.multipliedBy(calls / 4));
    }
  }
}
