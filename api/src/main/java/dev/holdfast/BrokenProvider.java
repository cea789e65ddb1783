package dev.holdfast;

import dev.holdfast.spi.LockProvider;
import java.util.ServiceConfigurationError;

/** A backend that is there and cannot be used. */
record BrokenProvider(String description, Throwable why) {
  /** Compares the texts, because two class loaders make different exceptions of one fault. */
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
    return "fails with " + why.getClass().getName(); // its message may hold the URL's password
  }
}
