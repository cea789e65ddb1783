package dev.holdfast.benchmarks.peers;

import java.net.URI;
import java.util.List;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Spring's connections: over Lettuce, one that all threads share, as Spring Boot sets them up. */
final class Connections {
  private Connections() {}

  static LettuceConnectionFactory to(List<String> uris) {
    URI uri = URI.create(uris.get(0));
    LettuceConnectionFactory connections =
        new LettuceConnectionFactory(
            new RedisStandaloneConfiguration(uri.getHost(), uri.getPort()));
    connections.afterPropertiesSet();
    connections.start();
    return connections;
  }
}
