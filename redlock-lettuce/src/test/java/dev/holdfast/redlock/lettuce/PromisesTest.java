package dev.holdfast.redlock.lettuce;

import dev.holdfast.drivertests.PromisesContract;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Links.Kind.class)
class PromisesTest extends PromisesContract {
  PromisesTest(Links.Kind kind) {
    super(uris -> Links.over(kind, uris));
  }
}
