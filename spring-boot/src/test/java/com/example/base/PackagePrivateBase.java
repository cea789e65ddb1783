package com.example.base;

import dev.holdfast.spring.Locked;

/** A class whose locked method is seen in this package only. */
public class PackagePrivateBase {
  /** Does nothing. */
  @Locked(name = "a")
  void run() {}
}
