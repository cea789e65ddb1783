package dev.holdfast.examples.shop;

import dev.holdfast.LockContendedException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockOutageException;
import org.springframework.dao.EmptyResultDataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The shop over HTTP. The page of one instance also asks the others. */
@RestController
@RequestMapping("/api")
@CrossOrigin(originPatterns = "http://localhost:*")
class ShopController {
  private final Orders orders;
  private final Overview overview;

  ShopController(Orders orders, Overview overview) {
    this.orders = orders;
    this.overview = overview;
  }

  @GetMapping("/overview")
  Overview.Contents overview() {
    return overview.contents();
  }

  @PostMapping("/orders")
  Order place(@RequestParam String item) {
    return orders.find(orders.place(item));
  }

  @PostMapping("/orders/{id}/ship")
  Order ship(@PathVariable long id) throws InterruptedException {
    return orders.ship(id);
  }

  /** Another instance ships the order. */
  @ExceptionHandler
  ProblemDetail contended(LockContendedException e) {
    return ProblemDetail.forStatusAndDetail(
        HttpStatus.CONFLICT, e.holder().orElse("another instance") + " ships this order now");
  }

  /** No quorum of nodes answers, so that no instance can ship. */
  @ExceptionHandler
  ProblemDetail outage(LockOutageException e) {
    return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, e.getMessage());
  }

  /** A later holder of the lock has written the order, and this transaction was rolled back. */
  @ExceptionHandler
  ProblemDetail stale(StaleHolderException e) {
    return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, e.getMessage());
  }

  /** The transaction was rolled back, unless the lock was lost while the commit ran. */
  @ExceptionHandler
  ProblemDetail lost(LockLostException e) {
    return ProblemDetail.forStatusAndDetail(
        HttpStatus.SERVICE_UNAVAILABLE,
        e.getMessage() + ". Ship the order again: one that is shipped already stays as it is.");
  }

  @ExceptionHandler
  ProblemDetail unknown(EmptyResultDataAccessException e) {
    return ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, "there is no such order");
  }
}
