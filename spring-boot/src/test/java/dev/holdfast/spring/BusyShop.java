package dev.holdfast.spring;

import reactor.core.publisher.Mono;

/** A shop whose one lock many callers want at the same time. */
class BusyShop {
  @Locked(name = "order")
  public Mono<String> ship() {
    return Mono.just("done");
  }

  @Locked(name = "order")
  public String shipBlocking() {
    return "done";
  }

  @Locked(name = "order", waitAtMost = "1h")
  public Mono<String> shipLater() {
    return Mono.just("done");
  }
}
