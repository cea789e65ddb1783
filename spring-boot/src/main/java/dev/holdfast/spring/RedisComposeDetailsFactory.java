package dev.holdfast.spring;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionDetailsFactory;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.boot.ssl.SslBundle;

/**
 * A Redis or Valkey service of docker compose as one node, unless it has the label {@value
 * #IGNORE}. Several services are several nodes.
 */
final class RedisComposeDetailsFactory
    extends DockerComposeConnectionDetailsFactory<HoldfastConnectionDetails> {
  static final String IGNORE = "dev.holdfast.ignore";

  RedisComposeDetailsFactory() {
    super(RedisImages.NAMES.toArray(String[]::new));
  }

  @Override
  protected @Nullable HoldfastConnectionDetails getDockerComposeConnectionDetails(
      DockerComposeConnectionSource source) {
    RunningService service = source.getRunningService();
    return service.labels().containsKey(IGNORE) ? null : new Details(service);
  }

  private static final class Details extends DockerComposeConnectionDetails
      implements HoldfastConnectionDetails {
    private final HoldfastNode node;

    Details(RunningService service) {
      super(service);
      HoldfastNode plain = HoldfastNode.of(service.host(), service.ports().get(RedisImages.PORT));
      SslBundle bundle = getSslBundle(service);
      node = bundle == null ? plain : plain.tls(bundle);
    }

    @Override
    public List<HoldfastNode> getNodes() {
      return List.of(node);
    }

    @Override
    public boolean isEphemeral() {
      return true;
    }
  }
}
