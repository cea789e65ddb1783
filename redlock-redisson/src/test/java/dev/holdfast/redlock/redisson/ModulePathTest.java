package dev.holdfast.redlock.redisson;

import dev.holdfast.drivertests.ModulePathContract;

class ModulePathTest extends ModulePathContract {
  ModulePathTest() {
    super("redisson");
  }
}
