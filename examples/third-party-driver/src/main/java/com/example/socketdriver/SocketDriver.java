package com.example.socketdriver;

import dev.holdfast.LockManager;
import dev.holdfast.redlock.Redlock;
import dev.holdfast.redlock.RedlockOptions;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;

/** Serves {@code redlock:socket:redis://…} URLs with plain sockets. */
public final class SocketDriver implements LockProvider {
  @Override
  public String name() {
    return "socket";
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
    RedlockOptions options = RedlockOptions.from(url);
    return Redlock.open(new SocketNodes(url.nodes(), options.connectTimeout()), options);
  }
}
