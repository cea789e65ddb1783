package dev.holdfast.redlock.redisson;

import dev.holdfast.drivertests.TransactionContract;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Links.Kind.class)
class TransactionTest extends TransactionContract {
  TransactionTest(Links.Kind kind) {
    super(uris -> Links.over(kind, uris));
  }
}
