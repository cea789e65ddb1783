package dev.holdfast.redlock.redisson;

import dev.holdfast.LockManager;
import dev.holdfast.drivertests.AwayContract;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
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
}
