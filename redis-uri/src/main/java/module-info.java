/** The nodes in a URL, for everything that lives on Redis. */
module dev.holdfast.redis {
  requires transitive dev.holdfast.api;
  requires static org.jspecify;

  exports dev.holdfast.redis;
}
