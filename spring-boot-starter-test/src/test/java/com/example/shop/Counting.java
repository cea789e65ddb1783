package com.example.shop;

import dev.holdfast.spring.Locked;

/** An interface with locks. */
interface Counting {
  @Locked(name = "count")
  String count();
}
