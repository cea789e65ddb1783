package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.when;

import dev.holdfast.spring.test.LockTest;
import org.junit.jupiter.api.Test;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** A mock of a class with locks, which no processor of beans sees, and which takes none. */
@LockTest
@MockitoBean(types = Warehouse.class) // for the components that are not mocked
class MockedLocksTest {
  @MockitoBean private Shop shop;

  @Test
  void aMockInThePlaceOfALockedBeanStarts() {
    when(shop.ship(1)).thenReturn("mocked");

    assertThat(shop.ship(1)).isEqualTo("mocked");
  }
}
