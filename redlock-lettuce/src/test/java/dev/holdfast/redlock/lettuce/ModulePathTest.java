package dev.holdfast.redlock.lettuce;

import dev.holdfast.drivertests.ModulePathContract;

class ModulePathTest extends ModulePathContract {
  ModulePathTest() {
    super("lettuce");
  }
}
