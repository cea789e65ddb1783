package dev.holdfast.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.spi.Subscription;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A subscription on a connection of Lettuce's that only records commands. */
class LettucePubSubConnectionTest {
  private final List<String> asked = new ArrayList<>();
  private final List<RedisCommand<?, ?, ?>> commands = new ArrayList<>();
  private final Subscription subscription = new Subscription("first", (c, m) -> {});

  @Test
  void aConnectionThatIsClosedHasEnded() {
    serve();

    subscription.close();
    subscription.close();

    assertThat(asked).containsOnlyOnce("closeAsync");
    assertThat(subscription.ended()).isCompleted();
  }

  @Test
  void aCommandNamesAllChannelsThatAreWanted() {
    serve();
    subscription.subscribe("second");
    subscription.subscribe("third");
    subscription.unsubscribe("first");
    for (int done = 0; done < commands.size(); done++) {
      commands.get(done).complete();
    }

    assertThat(commands)
        .extracting(command -> command.getType() + " " + command.getArgs().count())
        .containsExactly("SUBSCRIBE 1", "SUBSCRIBE 2", "UNSUBSCRIBE 1");
  }

  @Test
  void timeoutOfTheGivenClientDoesNotDelayLaterCommands() {
    serve();
    subscription.subscribe("second");

    commands.get(0).completeExceptionally(new RedisCommandTimeoutException());

    assertThat(commands).hasSize(2);
    assertThat(asked).doesNotContain("closeAsync");
  }

  private void serve() {
    subscription.onConnected(new LettucePubSubConnection(connection(), subscription));
  }

  @SuppressWarnings("unchecked")
  private StatefulRedisPubSubConnection<String, String> connection() {
    return (StatefulRedisPubSubConnection<String, String>)
        Proxy.newProxyInstance(
            LettucePubSubConnectionTest.class.getClassLoader(),
            new Class<?>[] {StatefulRedisPubSubConnection.class},
            (proxy, method, arguments) -> answer(method, arguments));
  }

  private @Nullable Object answer(Method method, Object[] arguments) {
    asked.add(method.getName());
    if (method.getName().equals("dispatch")) {
      commands.add((RedisCommand<?, ?, ?>) arguments[0]);
    }
    return switch (method.getName()) {
      case "isOpen" -> true;
      case "closeAsync" -> CompletableFuture.completedFuture(null);
      default -> null;
    };
  }
}
