package dev.holdfast.spring;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * One real PostgreSQL server for the tests of this JVM, which ends with it. As root it runs in a
 * user namespace, because PostgreSQL refuses root.
 */
final class PostgresServer {
  /** Longer than the default of 10 s, which a busy machine exceeds. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private static @Nullable EmbeddedPostgres server;

  private PostgresServer() {}

  /** Skips the test where root has no user namespaces, as in some containers. */
  private static synchronized EmbeddedPostgres server() {
    if (server == null) {
      assumeTrue(
          !"root".equals(System.getProperty("user.name")) || hasUserNamespaces(),
          "PostgreSQL refuses root, and root has no user namespaces here: run as another user");
      try {
        server = EmbeddedPostgres.builder().setPGStartupWait(PATIENCE).start();
      } catch (IOException e) {
        throw new UncheckedIOException("PostgreSQL did not start", e);
      }
    }
    return server;
  }

  private static boolean hasUserNamespaces() {
    try {
      return new ProcessBuilder("unshare", "-U", "true").start().waitFor() == 0;
    } catch (IOException e) {
      return false; // there is no such command
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static int port() {
    return server().getPort();
  }

  /** Returns the database, in which each connection is a new one. */
  static DataSource dataSource() {
    return server().getPostgresDatabase();
  }
}
