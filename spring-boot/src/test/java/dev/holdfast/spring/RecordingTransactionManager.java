package dev.holdfast.spring;

import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;

/** Transactions of a real database, which are recorded. */
final class RecordingTransactionManager extends JdbcTransactionManager {
  private static final long serialVersionUID = 1L;

  private final transient List<String> events = new ArrayList<>();
  private final transient Runnable atEnd;
  private transient Runnable atCommit = () -> {};

  /**
   * Has recorded nothing yet.
   *
   * @param atEnd called right before each commit and rollback
   */
  RecordingTransactionManager(DataSource dataSource, Runnable atEnd) {
    super(dataSource);
    this.atEnd = atEnd;
  }

  List<String> events() {
    return events;
  }

  /** Does something between the last work before a commit and the commit. */
  void atCommit(Runnable action) {
    atCommit = action;
  }

  @Override
  protected void doBegin(Object transaction, TransactionDefinition definition) {
    super.doBegin(transaction, definition);
    events.add("begin");
  }

  @Override
  protected void doCommit(DefaultTransactionStatus status) {
    atEnd.run();
    atCommit.run();
    super.doCommit(status);
    events.add("commit");
  }

  @Override
  protected void doRollback(DefaultTransactionStatus status) {
    atEnd.run();
    super.doRollback(status);
    events.add("rollback");
  }
}
