package dev.holdfast.tck.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NodeUriTest {
  @ParameterizedTest
  @CsvSource({
    "redis://h, h:6379, default, '', 0",
    "redis://h:7001, h:7001, default, '', 0",
    "redis://h:7001/, h:7001, default, '', 0",
    "redis://:secret@h/3, h:6379, default, secret, 3",
    "redis://me:a%40b+c@h, h:6379, me, a@b+c, 0",
    "redis://me:a:b@h, h:6379, me, a:b, 0",
    "redis://me@h, h:6379, me, '', 0",
    "redis://[::1]:7001, [::1]:7001, default, '', 0"
  })
  void allItsPartsAreRead(String text, String address, String user, String password, int database) {
    NodeUri uri = NodeUri.parse(text);

    assertThat(uri.address()).isEqualTo(address);
    assertThat(uri.user()).isEqualTo(user);
    assertThat(uri.password()).isEqualTo(password);
    assertThat(uri.database()).isEqualTo(database);
  }

  @Test
  void elsewhereTheLoginAndDatabaseAreTheSame() {
    assertThat(NodeUri.parse("redis://me:se%40cret@h:1/2").at("other", 3).text())
        .isEqualTo("redis://me:se%40cret@other:3/2");
  }

  @Test
  void thePasswordIsNotShown() {
    assertThat(NodeUri.parse("redis://me:secret@h:1/2")).hasToString("redis://h:1/2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rediss://me:secret@h", "h:7001", "http://h", "redis://"})
  void whatTheKitCannotReadIsRefused(String text) {
    assertThatThrownBy(() -> NodeUri.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("secret");
  }
}
