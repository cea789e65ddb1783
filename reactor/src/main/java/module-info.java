/** Locks for Project Reactor. */
module dev.holdfast.reactor {
  requires transitive dev.holdfast.api;
  requires transitive reactor.core;
  requires transitive org.reactivestreams;
  requires static org.jspecify;
  requires static reactor.blockhound;

  exports dev.holdfast.reactor;
}
