package dev.holdfast.spring;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * One real PostgreSQL server for the tests of this JVM, which ends with it. As root it runs in a
 * user namespace, because PostgreSQL refuses root.
 */
final class PostgresServer {
  /** Longer than the default of 10 s, which a busy machine exceeds. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private PostgresServer() {}

  private static final class Holder {
    private static final EmbeddedPostgres SERVER = start();

    private static EmbeddedPostgres start() {
      try {
        return EmbeddedPostgres.builder().setPGStartupWait(PATIENCE).start();
      } catch (IOException | IllegalStateException e) {
        throw new IllegalStateException(
            "PostgreSQL did not start: as root it needs the command unshare and user namespaces;"
                + " run the tests as another user",
            e);
      }
    }
  }

  static int port() {
    return Holder.SERVER.getPort();
  }

  /** Returns the database, in which each connection is a new one. */
  static DataSource dataSource() {
    return Holder.SERVER.getPostgresDatabase();
  }
}
