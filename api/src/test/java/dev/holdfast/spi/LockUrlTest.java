package dev.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LockUrlTest {
  @Test
  void nodesAreTakenInTheOrderOfTheUrl() {
    LockUrl url = parse("redlock:redis://h2:7002,rediss://h1:7001,redis://h3:7003");

    assertThat(url.scheme()).isEqualTo("redlock");
    assertThat(url.driver()).isEmpty();
    assertThat(url.name()).isEmpty();
    assertThat(url.nodes())
        .containsExactly(
            URI.create("redis://h2:7002"),
            URI.create("rediss://h1:7001"),
            URI.create("redis://h3:7003"));
  }

  @Test
  void aDriverStandsBetweenSchemeAndNodes() {
    LockUrl url = parse("redlock:lettuce:redis://h1:7001");

    assertThat(url.driver()).contains("lettuce");
    assertThat(url.nodes()).containsExactly(URI.create("redis://h1:7001"));
  }

  @ParameterizedTest(name = "{0} is the node {1}")
  @CsvSource({
    "redis://h,                       redis://h:6379",
    "redis://h/,                      redis://h:6379",
    "redis://h/3,                     redis://h:6379/3",
    "redis://h:1/007,                 redis://h:1/7",
    "REDISS://Host.Example.:65535,    rediss://host.example.:65535",
    "redis://127.0.0.1,               redis://127.0.0.1:6379",
    "redis://[::1],                   redis://[::1]:6379",
    "redis://[2001:DB8::1]:7000/1,    redis://[2001:db8::1]:7000/1",
    "redis://user@h,                  redis://user@h:6379",
    "redis://:secret@h,               redis://:secret@h:6379",
    "redis://User:Se:cr-et@h:1/2,     redis://User:Se:cr-et@h:1/2",
    "redis://u:p%40%2c%C3%A4@[::1]:1, redis://u:p%40%2c%C3%A4@[::1]:1",
  })
  void nodesAreNormalised(String written, String normalised) {
    assertThat(parse("redlock:" + written).nodes()).containsExactly(URI.create(normalised));
  }

  @Test
  void userAndPasswordAreDecodedByTheUri() {
    URI node = parse("redlock:redis://us%20er:p%40%2F%3F%23%2C%3A%25%C3%A4@h").nodes().get(0);

    assertThat(node.getUserInfo()).isEqualTo("us er:p@/?#,:%ä");
  }

  @ParameterizedTest(name = "[{index}] {0}")
  @CsvSource({
    "memory:,               memory,  '',      ''",
    "memory:shared-1.x_~,   memory,  '',      shared-1.x_~",
    "Migrate:both,          migrate, '',      both",
    "some:driver:Word,      some,    driver,  Word",
    "some:driver:,          some,    driver,  ''",
    "memory:name?a=b,       memory,  '',      name",
    "memory:?a=b,           memory,  '',      ''",
  })
  void aTargetMayBeAWord(String written, String scheme, String driver, String name) {
    LockUrl url = parse(written);

    assertThat(url.scheme()).isEqualTo(scheme);
    assertThat(url.driver().orElse("")).isEqualTo(driver);
    assertThat(url.name().orElse("")).isEqualTo(name);
    assertThat(url.nodes()).isEmpty();
  }

  @Test
  void theNodesCannotBeChanged() {
    assertThat(parse("redlock:redis://h1").nodes()).isUnmodifiable();
  }

  @ParameterizedTest(name = "{0} is called {1}")
  @CsvSource({
    "redis://user:secret@H1,  h1:6379",
    "redis://h1:7001/0,       h1:7001",
    "redis://h1:7001/2,       h1:7001/2",
    "rediss://[::1]:7001/12,  [::1]:7001/12",
  })
  void aNodeHasANameThatCanBeLogged(String written, String name) {
    assertThat(LockUrl.describe(parse("redlock:" + written).nodes().get(0))).isEqualTo(name);
  }

  @Test
  void aUrlInAnOptionKeepsItsOwnOptions() {
    LockUrl url = parse("migrate:both?from=setnx:redis://h1?unit=s&to=redlock:redis://h2");

    assertThat(url.text("from", "")).isEqualTo("setnx:redis://h1?unit=s");
    assertThat(url.text("to", "")).isEqualTo("redlock:redis://h2");
    assertThat(parse(url.text("from", "")).nodes())
        .isEqualTo(List.of(URI.create("redis://h1:6379")));
  }

  private static LockUrl parse(String url) {
    return LockUrl.parse(url, Map.of());
  }
}
