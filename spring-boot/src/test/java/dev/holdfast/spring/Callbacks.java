package dev.holdfast.spring;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Callbacks of the transaction of this thread. */
final class Callbacks {
  private Callbacks() {}

  static void beforeCommit(Runnable action) {
    register(
        new TransactionSynchronization() {
          @Override
          public void beforeCommit(boolean readOnly) {
            action.run();
          }
        });
  }

  static void beforeCompletion(Runnable action) {
    register(
        new TransactionSynchronization() {
          @Override
          public void beforeCompletion() {
            action.run();
          }
        });
  }

  static void afterCompletion(Runnable action) {
    register(
        new TransactionSynchronization() {
          @Override
          public void afterCompletion(int status) {
            action.run();
          }
        });
  }

  private static void register(TransactionSynchronization callback) {
    TransactionSynchronizationManager.registerSynchronization(callback);
  }
}
