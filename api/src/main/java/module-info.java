/**
 * The public API of Holdfast ({@code dev.holdfast}) and what a backend implements to be found by it
 * ({@code dev.holdfast.spi}).
 */
module dev.holdfast.api {
  requires static org.jspecify;

  exports dev.holdfast;
  exports dev.holdfast.spi;

  uses dev.holdfast.spi.LockProvider;
}
