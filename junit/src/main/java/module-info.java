/** A JUnit extension that gives each test a lock manager of its own. */
module dev.holdfast.junit {
  requires transitive dev.holdfast.memory;
  requires transitive org.junit.jupiter.api;
  requires static org.jspecify;

  exports dev.holdfast.junit;
}
