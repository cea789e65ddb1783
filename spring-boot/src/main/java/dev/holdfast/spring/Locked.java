package dev.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * A method that runs while it holds a distributed lock. The lock is acquired before a transaction
 * of the same method begins and is released after the transaction ended. A transaction that is
 * active when the method is called holds the lock until it has ended. A lock that was lost before
 * the commit begins rolls the transaction back.
 *
 * <pre>
 * &#64;Locked(name = "order-#{#id}", ttl = "10s", keepAliveUpTo = "5m")
 * &#64;Transactional
 * public void ship(long id) {}
 * </pre>
 *
 * <p>A method that returns a {@code CompletionStage}, a {@code Mono} or a {@code Flux} holds the
 * lock until that ends.
 *
 * <p>A call that already works under the lock of the same manager and name, on its thread or in its
 * transaction, joins that lease: it neither waits nor releases. Durations are texts such as {@code
 * 10s} or {@code PT10S}. Texts may contain placeholders such as {@code ${orders.ttl}}. Calls of a
 * method on {@code this} do not pass the proxy, and take no lock.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Reflective(LockedReflectiveProcessor.class)
public @interface Locked {
  /**
   * Names the lock: a SpEL template, in which {@code #{#id}} is the parameter {@code id}. An
   * expression that yields null or an empty text is an error.
   *
   * @return 1 byte to 1 KiB in UTF-8 when it is evaluated
   */
  String name();

  /**
   * Limits how long the lock may outlive a holder that dies.
   *
   * @return a duration, or empty for {@code holdfast.locked.ttl}, which is 30 s by default
   */
  String ttl() default "";

  /**
   * Limits the wait for a lock that another owner holds.
   *
   * @return a duration. Zero makes one attempt
   */
  String waitAtMost() default "0s";

  /**
   * Renews the lease in the background until this long after it was granted.
   *
   * @return a duration of at least the ttl, or empty for a lease that is not renewed
   */
  String keepAliveUpTo() default "";

  /**
   * Keeps the lock for at least this long after it was granted, for scheduled work on hosts whose
   * clocks differ.
   *
   * @return a duration
   */
  String holdAtLeast() default "0s";

  /**
   * Selects the reaction to a lock that another owner holds. An outage always throws.
   *
   * @return the reaction
   */
  WhenHeld whenHeld() default WhenHeld.THROW;

  /**
   * Selects the reaction to a transaction that is active when the method is called.
   *
   * @return the reaction
   */
  OnTransaction onTransaction() default OnTransaction.HOLD;

  /**
   * Selects the manager.
   *
   * @return the name of a bean of the type {@link dev.holdfast.LockManager}, or empty for the only
   *     or primary one
   */
  String manager() default "";

  /** The reaction to a lock that another owner holds. */
  enum WhenHeld {
    /** The method throws or signals {@link dev.holdfast.LockContendedException}. */
    THROW,
    /**
     * The method returns null, an empty Optional, a completed future of these, or an empty Mono or
     * Flux.
     */
    SKIP
  }

  /** The reaction to a transaction that is active when the method is called. */
  enum OnTransaction {
    /** The lock is held until the transaction has ended. */
    HOLD,
    /** The method throws {@link IllegalStateException} and does not run. */
    FAIL
  }
}
