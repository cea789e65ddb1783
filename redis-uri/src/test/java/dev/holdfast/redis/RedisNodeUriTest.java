package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.spi.LockUrl;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisNodeUriTest {
  @Test
  void nodesAreTakenInTheOrderOfTheUrl() {
    assertThat(all("redlock:redis://h2:7002,rediss://h1:7001,redis://h3:7003?drift=1%"))
        .extracting(RedisNodeUri::text)
        .containsExactly("redis://h2:7002", "rediss://h1:7001", "redis://h3:7003");
  }

  @ParameterizedTest(name = "{0} is the node {1}")
  @CsvSource({
    "redis://h,                       redis://h:6379",
    "redis://h/,                      redis://h:6379",
    "redis://h/3,                     redis://h:6379/3",
    "redis://h:1/007,                 redis://h:1/7",
    "REDISS://Host.Example.:65535,    rediss://host.example.:65535",
    "redis://Redis_Cache,             redis://redis_cache:6379",
    "redis://u:p%40@_h_1.x_2:1/2,     redis://u:p%40@_h_1.x_2:1/2",
    "redis://127.0.0.1,               redis://127.0.0.1:6379",
    "redis://[::1],                   redis://[::1]:6379",
    "redis://[2001:DB8::1]:7000/1,    redis://[2001:db8::1]:7000/1",
    "redis://user@h,                  redis://user@h:6379",
    "redis://:secret@h,               redis://:secret@h:6379",
    "redis://User:Se:cr-et@h:1/2,     redis://User:Se%3Acr-et@h:1/2",
    "redis://u:p%40%2c%C3%A4@[::1]:1, redis://u:p%40%2C%C3%A4@[::1]:1",
    "redis://u:a+b%20c@h,             redis://u:a%2Bb%20c@h:6379",
  })
  void nodesAreNormalised(String written, String normalised) {
    assertThat(node(written).text()).isEqualTo(normalised);
    assertThat(node(normalised)).isEqualTo(node(written));
  }

  @Test
  void allPartsAreRead() {
    assertThat(node("rediss://us%20er:p%40%2F%3F%23%2C%3A%25%C3%A4@[::1]:7001/2"))
        .isEqualTo(new RedisNodeUri(true, "::1", 7001, 2, "us er", "p@/?#,:%ä"));
    assertThat(node("redis://h")).isEqualTo(new RedisNodeUri(false, "h", 6379, 0, null, null));
    assertThat(node("redis://u@h")).isEqualTo(new RedisNodeUri(false, "h", 6379, 0, "u", ""));
    assertThat(node("redis://:p@h")).isEqualTo(new RedisNodeUri(false, "h", 6379, 0, null, "p"));
  }

  @ParameterizedTest(name = "{0} is called {1}")
  @CsvSource({
    "redis://user:secret@H1,  h1:6379,       redis://***@h1:6379",
    "redis://h1:7001/0,       h1:7001,       redis://h1:7001",
    "redis://:secret@h1/2,    h1:6379/2,     redis://***@h1:6379/2",
    "redis://secret@h1,       h1:6379,       redis://***@h1:6379",
    "rediss://[::1]:7001/12,  [::1]:7001/12, rediss://[::1]:7001/12",
  })
  void aNodeCanBeLogged(String written, String address, String shown) {
    assertThat(node(written).address()).isEqualTo(address);
    assertThat(node(written)).hasToString(shown);
  }

  @Test
  void changingOnePartKeepsTheOthers() {
    RedisNodeUri node = node("redis://u:p@h:1/2");

    assertThat(node.withServer("::1", 3).text()).isEqualTo("redis://u:p@[::1]:3/2");
    assertThat(node.withDatabase(0).text()).isEqualTo("redis://u:p@h:1");
    assertThat(node.withLogin("a", "b@c").text()).isEqualTo("redis://a:b%40c@h:1/2");
  }

  @Test
  void wordIsNotANodeList() {
    assertThat(all("redlock:lettuce")).isEmpty();
    assertThat(all("memory:")).isEmpty();
  }

  @Test
  void theNodesCannotBeChanged() {
    assertThat(all("redlock:redis://h1")).isUnmodifiable();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redlock:redis://u:s3cret@h1,redis://h2",
        "redlock:lettuce:redis://u:s3cret@h1",
        "redlock:redis://u:s3cret@h1?drift=1%",
        "redlock:h1",
      })
  void singleNodeUriAcceptsExactlyOneNode(String url) {
    assertThatThrownBy(() -> RedisNodeUri.only(LockUrl.parse(url, Map.of())))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageNotContaining("s3cret");
  }

  private static List<RedisNodeUri> all(String url) {
    return RedisNodeUri.all(LockUrl.parse(url, Map.of()));
  }

  private static RedisNodeUri node(String written) {
    return RedisNodeUri.only(LockUrl.parse("redlock:" + written, Map.of()));
  }
}
