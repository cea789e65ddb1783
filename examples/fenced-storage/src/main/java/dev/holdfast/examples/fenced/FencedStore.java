package dev.holdfast.examples.fenced;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.Statement;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Documents in a table. Each remembers the largest fencing token of those who wrote it, and refuses
 * a smaller one, compared and written in one statement. It needs no clock and no trust in locks.
 */
public final class FencedStore {
  private static final String TABLE =
      "CREATE TABLE IF NOT EXISTS document"
          + " (name VARCHAR PRIMARY KEY, content VARCHAR NOT NULL, token BIGINT NOT NULL)";

  private static final String UPDATE =
      "UPDATE document SET content = ?, token = ? WHERE name = ? AND token <= ?";

  private static final String INSERT =
      "INSERT INTO document (name, content, token) VALUES (?, ?, ?)";

  private final DataSource database;

  /**
   * Makes the table if needed.
   *
   * @param database where it is
   */
  public FencedStore(DataSource database) throws SQLException {
    this.database = database;
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(TABLE);
    }
  }

  /**
   * Writes a document.
   *
   * @param token {@code lease.fencingToken().orElseThrow()} of the lock under which it was read
   * @throws StaleTokenException if a holder with a larger token has written it. Then nothing is
   *     changed
   */
  public void write(String name, String content, long token) throws SQLException {
    try (Connection connection = database.getConnection()) {
      boolean written =
          update(connection, name, content, token)
              || insert(connection, name, content, token)
              || update(connection, name, content, token); // another holder has inserted it
      if (!written) {
        throw new StaleTokenException(name, token);
      }
    }
  }

  /** Returns the content, or empty if the document was never written. */
  public Optional<String> read(String name) throws SQLException {
    try (Connection connection = database.getConnection();
        PreparedStatement query =
            connection.prepareStatement("SELECT content FROM document WHERE name = ?")) {
      query.setString(1, name);
      try (ResultSet found = query.executeQuery()) {
        return found.next() ? Optional.of(found.getString(1)) : Optional.empty();
      }
    }
  }

  /** Returns false if it is there already. */
  private static boolean insert(Connection connection, String name, String content, long token)
      throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement(INSERT)) {
      insert.setString(1, name);
      insert.setString(2, content);
      insert.setLong(3, token);
      return insert.executeUpdate() == 1;
    } catch (SQLIntegrityConstraintViolationException exists) {
      return false;
    }
  }

  /** Returns false if it is not there, or a holder with a larger token has written it. */
  private static boolean update(Connection connection, String name, String content, long token)
      throws SQLException {
    try (PreparedStatement update = connection.prepareStatement(UPDATE)) {
      update.setString(1, content);
      update.setLong(2, token);
      update.setString(3, name);
      update.setLong(4, token);
      return update.executeUpdate() == 1;
    }
  }
}
