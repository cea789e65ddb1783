package dev.holdfast.redlock.lettuce;

import dev.holdfast.drivertests.RepliesContract;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** In RESP2, as our own client speaks, and in RESP3, as a user's client may. */
@ParameterizedClass
@EnumSource(
    value = Links.Kind.class,
    names = {"OWN_CLIENT", "YOUR_CLIENT"})
class RepliesTest extends RepliesContract {
  RepliesTest(Links.Kind kind) {
    super(uris -> Links.over(kind, uris));
  }
}
