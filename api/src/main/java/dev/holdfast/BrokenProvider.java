package dev.holdfast;

import dev.holdfast.spi.LockProvider;
import java.util.ServiceConfigurationError;

/** A backend that is there and cannot be used. */
record BrokenProvider(String description, Throwable why) {
  /** Two class loaders find the same broken backend, and each makes an exception of its own. */
  boolean looksLike(BrokenProvider that) {
    return toString().equals(that.toString());
  }

  @Override
  public String toString() {
    return description + ": " + reason();
  }

  private String reason() {
    if (why instanceof IncompatibleClassChangeError) {
      return "made for another version of this API, which is "
          + ProviderDescription.version(LockProvider.class).orElse("of no version known")
          + ": use the same version of both ("
          + why
          + ")";
    }
    if (why instanceof LinkageError || why instanceof ServiceConfigurationError) {
      return why.toString();
    }
    return "fails with " + why.getClass().getName(); // whose message may hold the URL's password
  }
}
