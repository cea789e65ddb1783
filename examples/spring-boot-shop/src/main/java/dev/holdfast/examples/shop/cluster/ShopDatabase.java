package dev.holdfast.examples.shop.cluster;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.h2.tools.RunScript;
import org.h2.tools.Server;

/** The database of all instances: H2 in memory, behind a port. Safe for use by several threads. */
final class ShopDatabase implements AutoCloseable {
  private static final String SCHEMA = "/shop-schema.sql";

  private final String name;
  private final Connection connection;
  private final Server server;

  private ShopDatabase(String name, Connection connection, Server server) {
    this.name = name;
    this.connection = connection;
    this.server = server;
  }

  /** Starts the database with empty tables. */
  static ShopDatabase start() throws SQLException, IOException {
    String name = "mem:" + UUID.randomUUID(); // two shops of one process have two databases
    Connection connection = DriverManager.getConnection("jdbc:h2:" + name, "sa", "");
    try {
      createTables(connection);
      Server server = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon").start();
      return new ShopDatabase(name, connection, server);
    } catch (Throwable e) {
      try (connection) { // closes it
        throw e;
      }
    }
  }

  /** Returns the URL for other processes. */
  String url() {
    return "jdbc:h2:tcp://localhost:" + server.getPort() + "/" + name;
  }

  /** Returns the first column of the first row, as a text, or empty if there is no row. */
  Optional<String> query(String sql, Object... parameters) {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? Optional.ofNullable(rows.getString(1)) : Optional.empty();
      }
    } catch (SQLException e) {
      throw new IllegalStateException("cannot read the database: " + e.getMessage(), e);
    }
  }

  @Override
  public void close() throws SQLException {
    try (connection) { // closes it, whatever the server does
      server.stop();
    }
  }

  private static void createTables(Connection connection) throws SQLException, IOException {
    try (Reader schema =
        new InputStreamReader(
            Objects.requireNonNull(ShopDatabase.class.getResourceAsStream(SCHEMA)),
            StandardCharsets.UTF_8)) {
      RunScript.execute(connection, schema);
    }
  }
}
