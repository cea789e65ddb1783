package dev.holdfast.cli.backend;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;

/** Another driver, found where a test says so. */
public final class OtherProvider implements LockProvider {
  @Override
  public String name() {
    return "other";
  }

  @Override
  public boolean accepts(LockUrl url) {
    return url.scheme().equals("redlock") && url.driver().orElse("other").equals("other");
  }

  @Override
  public LockManager open(LockUrl url) {
    throw new LockConfigurationException("the other driver was chosen");
  }
}
