package dev.holdfast.spring;

import java.util.List;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionDetailsFactory;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.boot.ssl.SslBundle;

/** A Redis or Valkey service of docker compose as one node. Several services are several nodes. */
final class RedisComposeDetailsFactory
    extends DockerComposeConnectionDetailsFactory<HoldfastConnectionDetails> {
  RedisComposeDetailsFactory() {
    super(RedisImages.NAMES.toArray(String[]::new));
  }

  @Override
  protected HoldfastConnectionDetails getDockerComposeConnectionDetails(
      DockerComposeConnectionSource source) {
    return new Details(source.getRunningService());
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
