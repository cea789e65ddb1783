package dev.holdfast.redlock.jedis;

import dev.holdfast.drivertests.ModulePathContract;

class ModulePathTest extends ModulePathContract {
  ModulePathTest() {
    super("jedis");
  }
}
