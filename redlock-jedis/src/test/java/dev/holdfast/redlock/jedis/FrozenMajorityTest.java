package dev.holdfast.redlock.jedis;

import dev.holdfast.drivertests.FrozenMajorityContract;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Links.Kind.class)
class FrozenMajorityTest extends FrozenMajorityContract {
  FrozenMajorityTest(Links.Kind kind) {
    super((uris, options) -> Links.over(kind, uris, options));
  }
}
