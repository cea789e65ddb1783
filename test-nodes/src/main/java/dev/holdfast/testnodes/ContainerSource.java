package dev.holdfast.testnodes;

/**
 * Servers in containers. Names no class of Testcontainers, which is optional.
 *
 * @param image as in {@code docker run}
 */
record ContainerSource(String image) implements NodeSource {
  static final String DEFAULT_IMAGE = "redis:7";
  static final String PREFIX = "docker:";
  static final String LIBRARY = "org.testcontainers:testcontainers";
  private static final String CLASS_OF_LIBRARY = "org.testcontainers.DockerClientFactory";

  /** Returns the image, after a check that it runs here. */
  ServerImage serverImage() {
    try {
      Class.forName(CLASS_OF_LIBRARY, false, ContainerSource.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new NodeException(
          "Nodes in containers need Testcontainers, which is not on the class path: add the"
              + " dependency "
              + LIBRARY
              + " (2.0 or later; scope test), or choose another source. "
              + ServerBinary.WHAT_ELSE_WOULD_SERVE,
          e);
    }
    return ServerImage.probe(image);
  }
}
