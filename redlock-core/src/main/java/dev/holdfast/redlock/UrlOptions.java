package dev.holdfast.redlock;

import dev.holdfast.core.DurationRange;
import dev.holdfast.spi.LockUrl;
import java.time.Duration;

/** Reads {@link RedlockOptions} from a URL. */
final class UrlOptions {
  private final LockUrl url;

  private UrlOptions(LockUrl url) {
    this.url = url;
  }

  static RedlockOptions read(LockUrl url) {
    UrlOptions options = new UrlOptions(url);
    return options.withWords(options.withValues());
  }

  private RedlockOptions withValues() {
    return RedlockOptions.defaults()
        .managerOptions(options -> options.read(url))
        .nodeTimeout(timeout("nodeTimeout", RedlockOptions.DEFAULT_NODE_TIMEOUT))
        .quorumTimeout(timeout("quorumTimeout", RedlockOptions.DEFAULT_QUORUM_TIMEOUT))
        .connectTimeout(timeout("connectTimeout", RedlockOptions.DEFAULT_CONNECT_TIMEOUT))
        .drift(url.percent("drift", RedlockOptions.DEFAULT_DRIFT))
        .keyPrefix(url.text("keyPrefix", ""))
        .fencing(url.flag("fencing", true))
        .cluster(url.text("cluster", ""));
  }

  private RedlockOptions withWords(RedlockOptions options) {
    RedlockOptions changed = options;
    if (!url.text("restartGuard", "").isEmpty()) {
      changed = changed.restartGuard(url.flag("restartGuard", true));
    }
    if (!url.isFirst("newNodes", "wait", "trust")) {
      changed = changed.trustNewNodes();
    }
    return url.isFirst("connect", "eager", "lazy") ? changed : changed.connectLazily();
  }

  private Duration timeout(String option, Duration defaultValue) {
    return DurationRange.TIMEOUT.read(url, option, defaultValue);
  }
}
