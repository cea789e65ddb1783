package dev.holdfast.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReleaseWarningsTest {
  private static final Logger LOGGER = Logger.getLogger(Lease.class.getName());

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
  private final ReleaseWarnings warnings = new ReleaseWarnings(nanos::get);
  private final List<String> lines = new ArrayList<>();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord line) {
          lines.add(new SimpleFormatter().formatMessage(line));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void listen() {
    LOGGER.addHandler(handler);
  }

  @AfterEach
  void stop() {
    LOGGER.removeHandler(handler);
  }

  @Test
  void oneWarningASecondNamesALockAndCountsTheOthers() {
    for (int i = 0; i < 3; i++) {
      warnings.add("lock-" + i, new IllegalStateException("no quorum"));
    }
    assertThat(lines)
        .containsExactly(
            "the release of 'lock-0' was not confirmed; the lock expires by itself: no quorum");

    nanos.addAndGet(1_000_000_000);
    warnings.add("lock-3", new IllegalStateException("no quorum"));
    assertThat(lines)
        .hasSize(2)
        .last()
        .asString()
        .startsWith("the release of 'lock-3' and of 2 more was not confirmed");
  }
}
