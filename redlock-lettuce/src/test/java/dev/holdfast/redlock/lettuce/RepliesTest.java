package dev.holdfast.redlock.lettuce;

import dev.holdfast.drivertests.RepliesContract;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Replies in RESP2, which our own client speaks, and in RESP3, which a user's client may speak. */
@ParameterizedClass
@EnumSource(
    value = Links.Kind.class,
    names = {"OWN_CLIENT", "YOUR_CLIENT"})
class RepliesTest extends RepliesContract {
  RepliesTest(Links.Kind kind) {
    super(uris -> Links.over(kind, uris));
  }
}
