package com.example.shop;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/** A component without locks, which fails where a slice does not leave it out. */
@Component
@Profile("!whole")
class BrokenComponent {
  BrokenComponent() {
    throw new IllegalStateException("a component without locks is no part of a test of locks");
  }
}
