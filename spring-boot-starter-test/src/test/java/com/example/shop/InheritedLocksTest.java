package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spring.test.LockTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** Components of a test of locks whose own classes have no annotation. */
@LockTest
@MockitoBean(types = Warehouse.class)
class InheritedLocksTest {
  @Autowired private ObjectProvider<Depot> depot;
  @Autowired private ObjectProvider<Counting> counter;

  @Test
  void aComponentWhoseSuperclassHasLocksIsABean() {
    assertThat(depot.getObject().take()).isEqualTo("depot");
  }

  @Test
  void aComponentWhoseInterfaceHasLocksIsABean() {
    assertThat(counter.getObject().count()).isEqualTo("count");
  }
}
