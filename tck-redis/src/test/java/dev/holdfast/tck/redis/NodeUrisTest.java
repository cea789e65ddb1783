package dev.holdfast.tck.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.redis.RedisNodeUri;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NodeUrisTest {
  @ParameterizedTest
  @CsvSource({
    "redis://h, h:6379, default, , 0",
    "redis://h:7001, h:7001, default, , 0",
    "redis://h:7001/, h:7001, default, , 0",
    "redis://:secret@h/3, h:6379, default, secret, 3",
    "redis://me:a%40b+c@h, h:6379, me, a@b+c, 0",
    "redis://me:a:b@h, h:6379, me, a:b, 0",
    "redis://me@h, h:6379, me, '', 0",
    "redis://[::1]:7001, [::1]:7001, default, , 0"
  })
  void allItsPartsAreRead(
      String text, String address, String user, @Nullable String password, int database) {
    RedisNodeUri uri = NodeUris.parse(text);

    assertThat(uri.server()).isEqualTo(address);
    assertThat(NodeUris.user(uri)).isEqualTo(user);
    assertThat(uri.password()).isEqualTo(password);
    assertThat(uri.database()).isEqualTo(database);
  }

  @Test
  void elsewhereTheLoginAndDatabaseAreTheSame() {
    assertThat(NodeUris.parse("redis://me:se%40cret@h:1/2").withServer("other", 3).text())
        .isEqualTo("redis://me:se%40cret@other:3/2");
  }

  @Test
  void thePasswordIsNotShown() {
    assertThat(NodeUris.parse("redis://me:secret@h:1/2")).hasToString("redis://***@h:1/2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rediss://me:secret@h", "h:7001", "http://h", "redis://"})
  void aUriThatTheKitCannotReadIsRefused(String text) {
    assertThatThrownBy(() -> NodeUris.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("secret");
  }
}
