package dev.holdfast.redlock.lettuce;

import dev.holdfast.LockManager;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import java.net.URI;

/** Serves {@code redlock:} and {@code redlock:lettuce:} URLs. Stateless. */
public final class LettuceProvider implements LockProvider {
  /** What an operator sees in {@code CLIENT LIST}. */
  private static final String CLIENT_NAME = "holdfast";

  /** For {@link java.util.ServiceLoader}. */
  public LettuceProvider() {}

  @Override
  public String name() {
    return "lettuce";
  }

  @Override
  public boolean accepts(LockUrl url) {
    return url.scheme().equals("redlock")
        && url.driver().orElse(name()).equals(name())
        && !url.nodes().isEmpty();
  }

  @Override
  public LockManager open(LockUrl url) {
    url.requireKnownOptions(RedlockOptions.NAMES);
    LettuceRedlock.Builder builder = LettuceRedlock.builder().options(RedlockOptions.from(url));
    for (URI node : url.nodes()) {
      builder.node(redisUri(node));
    }
    return builder.open();
  }

  private static RedisURI redisUri(URI node) {
    String host = node.getHost();
    RedisURI uri = new RedisURI();
    uri.setHost(host.startsWith("[") ? host.substring(1, host.length() - 1) : host);
    uri.setPort(node.getPort());
    uri.setSsl(node.getScheme().equals("rediss"));
    String path = node.getPath();
    if (path != null && path.length() > 1) {
      uri.setDatabase(Integer.parseInt(path.substring(1)));
    }
    String userInfo = node.getUserInfo();
    if (userInfo != null) {
      uri.setCredentialsProvider(credentials(userInfo));
    }
    uri.setClientName(CLIENT_NAME);
    // nothing more is told: a user may lack the right to, and the server would log each refusal
    uri.setLibraryName("");
    uri.setLibraryVersion("");
    return uri;
  }

  private static StaticCredentialsProvider credentials(String userInfo) {
    int colon = userInfo.indexOf(':');
    String user = colon < 0 ? userInfo : userInfo.substring(0, colon);
    String password = colon < 0 ? "" : userInfo.substring(colon + 1);
    return new StaticCredentialsProvider(user.isEmpty() ? null : user, password.toCharArray());
  }
}
