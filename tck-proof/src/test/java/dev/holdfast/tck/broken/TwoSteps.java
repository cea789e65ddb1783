package dev.holdfast.tck.broken;

import dev.holdfast.core.Scheduler;
import dev.holdfast.tck.broken.Request.Verb;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/** A connection by which a node looks first and acts then, so that others can come between. */
final class TwoSteps extends Member {
  private final Verb verb;
  private final First first;

  /** The first of the two steps. */
  interface First {
    /** Returns an answer, or the second step. */
    Object on(FakeKeys keys, String name, String token, Duration time);
  }

  /** The second of the two steps. */
  interface Second extends Function<FakeKeys, Object> {}

  TwoSteps(String uri, Way way, Scheduler network, Verb verb, First first) {
    super(uri, way, network);
    this.verb = verb;
    this.first = first;
  }

  static Parts.Connections of(Verb verb, First first) {
    return (uri, way, network) -> new TwoSteps(uri, way, network, verb, first);
  }

  @Override
  void ask(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
    if (request.verb() != verb || request.withSource()) {
      super.ask(request, wanted, answer);
      return;
    }
    String name = request.name();
    String rest = request.text().substring((verb + " " + name + " ").length());
    int space = rest.lastIndexOf(' ');
    String token = space < 0 ? "" : rest.substring(0, space);
    Duration time =
        space < 0 ? Duration.ZERO : Duration.ofNanos(Long.parseLong(rest.substring(space + 1)));
    Request look = Request.of(Verb.LOOK, name, rest, keys -> first.on(keys, name, token, time));
    super.ask(
        look,
        wanted,
        reply -> {
          if (reply instanceof Second second) {
            super.ask(Request.of(verb, name, rest, second), wanted, answer);
          } else {
            answer.accept(reply);
          }
        });
  }
}
