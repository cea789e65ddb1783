package dev.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LockUrlTest {
  @Test
  void addressesAreLeftToTheBackend() {
    LockUrl url = parse("redlock:redis://h2:7002,rediss://h1:7001,redis://h3:7003");

    assertThat(url.scheme()).isEqualTo("redlock");
    assertThat(url.driver()).isEmpty();
    assertThat(url.name()).isEmpty();
    assertThat(url.addresses()).contains("redis://h2:7002,rediss://h1:7001,redis://h3:7003");
  }

  @Test
  void aDriverStandsBetweenSchemeAndAddresses() {
    LockUrl url = parse("redlock:lettuce:redis://h1:7001");

    assertThat(url.driver()).contains("lettuce");
    assertThat(url.addresses()).contains("redis://h1:7001");
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
    assertThat(url.addresses()).isEmpty();
  }

  @Test
  void addressesOfAnyKindHaveTheirPlaceInErrors() {
    LockUrl url = parse("etcd:http://u:secret@h1,http://h2?a=b");

    assertThat(url.addresses()).contains("http://u:secret@h1,http://h2");
    assertThat(url.quotedAddress(19, 28)).isEqualTo("'http://h2'");
    assertThat(url.wrongAddress(26, 28, "nobody knows it"))
        .hasMessage("nobody knows it\n  etcd:***@h1,http://h2?a=b\n" + " ".repeat(21) + "^^");
  }

  @Test
  void aUrlInAnOptionKeepsItsOwnOptions() {
    LockUrl url = parse("migrate:both?from=setnx:redis://h1?unit=s&to=redlock:redis://h2");

    assertThat(url.text("from", "")).isEqualTo("setnx:redis://h1?unit=s");
    assertThat(url.text("to", "")).isEqualTo("redlock:redis://h2");
    assertThat(parse(url.text("from", "")).addresses()).contains("redis://h1");
  }

  private static LockUrl parse(String url) {
    return LockUrl.parse(url, Map.of());
  }
}
