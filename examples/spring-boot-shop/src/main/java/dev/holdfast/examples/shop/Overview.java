package dev.holdfast.examples.shop;

import dev.holdfast.LockManager;
import dev.holdfast.LockOutageException;
import dev.holdfast.LockStatus;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** The contents of the page: orders and reports, and who holds their locks. */
@Component
class Overview {
  /** For all open pages together, each refresh asks the nodes once for each order to ship. */
  private static final long REFRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Orders orders;
  private final Reports reports;
  private final Instances instances;
  private final LockManager locks;
  private final String instance;
  private @Nullable Contents latest;
  private long latestNanos;

  Overview(
      Orders orders,
      Reports reports,
      Instances instances,
      LockManager locks,
      ShopProperties properties) {
    this.orders = orders;
    this.reports = reports;
    this.instances = instances;
    this.locks = locks;
    this.instance = properties.instance();
  }

  /**
   * The contents of the page at one time.
   *
   * @param instance the instance that answers
   * @param outage why the holders are unknown, or null if they are known
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
   * @param holder the instance that ships it now, or null if no instance does or in an outage
   */
  record OrderLine(Order order, @Nullable String holder) {}

  /** Returns contents that are at most 500 ms old. */
  synchronized Contents contents() {
    long now = System.nanoTime();
    Contents contents = latest;
    if (contents == null || now - latestNanos > REFRESH_NANOS) {
      contents = read();
      latest = contents;
      latestNanos = now;
    }
    return contents;
  }

  private Contents read() {
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
