package dev.holdfast.legacy.migrate;

import dev.holdfast.tck.LockManagerTck;
import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.env.TckTiming;
import dev.holdfast.tck.redis.RedisTckEnvironment;
import java.time.Duration;
import org.junit.jupiter.api.Tag;

/** The kit over the old pattern and Redlock, on one server that has both. */
@Tag("slow") // each build runs it over two exact locks
class SetnxMigrationTckTest extends LockManagerTck {
  private static final TckTiming TIMES = TckTiming.servers();

  @Override
  protected TckEnvironment environment() {
    return RedisTckEnvironment.builder(
            "migrate:both?from=setnx:{nodes}?unit=ms%26quorumTimeout=2s"
                + "&to=redlock:lettuce:{nodes}?quorumTimeout=2s") // as patient as the kit's options
        .nodes(1)
        .nodeOptions(false)
        .timing(
            new TckTiming(
                TIMES.ttl(),
                Duration.ofMillis(1800),
                TIMES.allowance(),
                TIMES.soon(),
                TIMES.limit()))
        .build();
  }
}
