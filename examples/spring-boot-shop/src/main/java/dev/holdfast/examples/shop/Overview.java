package dev.holdfast.examples.shop;

import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** The contents of the page: orders and reports, and who holds their locks. */
@Component
class Overview {
  private final Orders orders;
  private final Reports reports;
  private final Instances instances;
  private final LockManager locks;
  private final String instance;

  Overview(
      Orders orders,
      Reports reports,
      Instances instances,
      LockManager locks,
      @Value("${shop.instance}") String instance) {
    this.orders = orders;
    this.reports = reports;
    this.instances = instances;
    this.locks = locks;
    this.instance = instance;
  }

  /**
   * The contents of the page at one time.
   *
   * @param instance the instance that answers
   * @param outage why the holders are unknown; null if they are known
   */
  record Contents(
      String instance,
      List<Instances.Instance> instances,
      List<Node> nodes,
      @Nullable String outage,
      List<OrderLine> orders,
      @Nullable String reportHolder,
      List<Report> reports) {}

  /** A node as this instance sees it. */
  record Node(String address, String state) {}

  /**
   * An order.
   *
   * @param holder the instance that ships it now; null if no instance does, or in an outage
   */
  record OrderLine(Order order, @Nullable String holder) {}

  Contents contents() {
    Holders holders = new Holders(locks);
    List<OrderLine> lines =
        orders.newest().stream()
            .map(
                order ->
                    new OrderLine(
                        order,
                        order.shippedBy() == null ? holders.of(Orders.lockName(order.id())) : null))
            .toList();
    String reportHolder = holders.of(Reports.LOCK);
    return new Contents(
        instance,
        instances.all(),
        locks.nodes().stream().map(node -> new Node(node.address(), node.state().name())).toList(),
        holders.outage,
        lines,
        reportHolder,
        reports.newest());
  }

  /** Asks the nodes for holders, until the first outage. */
  private static final class Holders {
    private final LockManager locks;
    private @Nullable String outage;

    Holders(LockManager locks) {
      this.locks = locks;
    }

    @Nullable String of(String name) {
      if (outage != null) {
        return null;
      }
      try {
        return locks.inspect(name).map(LockStatus::ownerLabel).orElse(null);
      } catch (LockOutageException e) {
        outage = e.getMessage();
        return null;
      }
    }
  }
}
