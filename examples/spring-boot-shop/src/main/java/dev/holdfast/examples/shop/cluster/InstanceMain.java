package dev.holdfast.examples.shop.cluster;

import dev.holdfast.examples.shop.ShopApplication;
import java.io.IOException;

/** An instance that ends with the process that started it, however that ends. */
final class InstanceMain {
  private InstanceMain() {}

  public static void main(String[] args) {
    Thread parent = new Thread(InstanceMain::exitWithParent, "shop-parent");
    parent.setDaemon(true);
    parent.start();
    ShopApplication.main(args);
  }

  private static void exitWithParent() {
    try {
      while (System.in.read() >= 0) {
        // the parent writes nothing
      }
    } catch (IOException e) {
      // the same as the end
    }
    System.exit(0);
  }
}
