package dev.holdfast.redlock.jedis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.Driver;
import dev.holdfast.drivertests.RepliesContract;
import dev.holdfast.testsupport.FaultProxy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Replies in RESP3, which Jedis speaks where it can, and in RESP2. */
@ParameterizedClass
@EnumSource(Links.Kind.class)
class RepliesTest extends RepliesContract {
  private final Links.Kind kind;

  RepliesTest(Links.Kind kind) {
    super(uris -> Links.over(kind, uris));
    this.kind = kind;
  }

  @Test
  void aReplyMayComeInPieces() throws Exception {
    try (FaultProxy pieces = new FaultProxy(server.host(), server.port(), 7);
        Driver behind = Links.over(kind, List.of(pieces.uri()))) {
      behind.connect(0);
      assertThat(Asked.of(behind.first(), "return {'0123456789', {}, 'abcdefghij'}").reply())
          .isEqualTo(List.of("0123456789", List.of(), "abcdefghij"));
    }
  }
}
