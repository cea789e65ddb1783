package dev.holdfast.tck.redis;

/** For tests that need no managers. */
final class NoManagers {
  static final RedisTckEnvironment.Opener OPENER =
      (uris, options) -> {
        throw new AssertionError("no manager should have been opened");
      };

  private NoManagers() {}
}
