package dev.holdfast.redlock.redisson;

import dev.holdfast.drivertests.ListeningContract;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Links.Kind.class)
class ListeningTest extends ListeningContract {
  ListeningTest(Links.Kind kind) {
    super(uris -> Links.over(kind, uris));
  }
}
