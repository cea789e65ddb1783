package dev.holdfast.spring;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * A fake: records what a database would be asked for, with Spring's own synchronisation around it.
 * It has no data, and cannot show in which order other connections see a commit.
 */
final class FakeTransactionManager extends AbstractPlatformTransactionManager {
  private static final long serialVersionUID = 1L;

  private static final class Transaction {
    private boolean active;
  }

  private final transient List<String> events = new ArrayList<>();
  private final transient Runnable atCommit;
  private transient Transaction current = new Transaction();

  FakeTransactionManager(Runnable atCommit) {
    this.atCommit = atCommit;
  }

  List<String> events() {
    return events;
  }

  @Override
  protected Object doGetTransaction() {
    return current;
  }

  @Override
  protected boolean isExistingTransaction(Object transaction) {
    return ((Transaction) transaction).active;
  }

  @Override
  protected void doBegin(Object transaction, TransactionDefinition definition) {
    current = (Transaction) transaction;
    current.active = true;
    events.add("begin");
  }

  @Override
  protected Object doSuspend(Object transaction) {
    Transaction suspended = current;
    current = new Transaction();
    return suspended;
  }

  @Override
  protected void doResume(@Nullable Object transaction, Object suspended) {
    current = (Transaction) suspended;
  }

  @Override
  protected void doCommit(DefaultTransactionStatus status) {
    atCommit.run();
    events.add("commit");
  }

  @Override
  protected void doRollback(DefaultTransactionStatus status) {
    atCommit.run();
    events.add("rollback");
  }

  @Override
  protected void doSetRollbackOnly(DefaultTransactionStatus status) {
    events.add("rollback-only");
  }

  @Override
  protected void doCleanupAfterCompletion(Object transaction) {
    ((Transaction) transaction).active = false;
  }
}
