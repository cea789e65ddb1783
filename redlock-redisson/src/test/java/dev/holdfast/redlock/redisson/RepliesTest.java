package dev.holdfast.redlock.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.drivertests.Asked;
import dev.holdfast.drivertests.RepliesContract;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Replies in RESP2, which our own client speaks, and in RESP3, which a user's client may speak. */
@ParameterizedClass
@EnumSource(Links.Kind.class)
class RepliesTest extends RepliesContract {
  RepliesTest(Links.Kind kind) {
    super(uris -> Links.over(kind, uris));
  }

  /** Redisson has a class for each of these, takes some of them apart, and wraps them all. */
  @Test
  void anErrorIsItsTextWhateverRedissonMakesOfIt() {
    List<String> errors =
        List.of(
            "ERR something is wrong. channel: 7",
            "OOM command not allowed",
            "ERR Error running script: @user_script:1: -MISCONF no",
            "NOSCRIPT No matching script",
            "READONLY You can't write",
            "LOADING Redis is loading",
            "BUSY Redis is busy",
            "MASTERDOWN Link down",
            "CLUSTERDOWN Hash slot not served",
            "TRYAGAIN Multiple keys",
            "NOREPLICAS Not enough",
            "NOAUTH Authentication required",
            "NOPERM no",
            "WRONGPASS invalid",
            "WAIT cannot be used",
            "MOVED 3999 127.0.0.1:6381",
            "ASK 3999 h1:6381",
            "REDIRECT h1:6381");
    for (String error : errors) {
      assertThat(Asked.of(driver.first(), "return {err = ARGV[1]}", error).error())
          .isEqualTo(error);
    }
    assertThat(Asked.of(driver.first(), "return 1").reply()).isEqualTo(1L);
  }

  @Test
  void anErrorInABatchIsOfItsOwnCommandAlone() {
    List<Asked> all =
        IntStream.range(0, 200)
            .mapToObj(
                i ->
                    i % 3 == 0
                        ? Asked.of(driver.first(), "return {err = ARGV[1]}", "OOM " + i)
                        : Asked.of(driver.first(), "return ARGV[1]", "" + i))
            .toList();
    for (int i = 0; i < all.size(); i++) {
      if (i % 3 == 0) {
        assertThat(all.get(i).error()).isEqualTo("OOM " + i);
      } else {
        assertThat(all.get(i).reply()).isEqualTo("" + i);
      }
    }
  }

  /** The message of Redis 6.2 has the code in its middle. It must be found anyway. */
  @Test
  void outOfMemoryErrorInsideAScriptKeepsItsCode() {
    server.command("CONFIG", "SET", "maxmemory", "1");
    try {
      assertThat(Asked.of(driver.first(), "return redis.call('SET', KEYS[1], 'v')").error())
          .contains("OOM command not allowed");
    } finally {
      server.command("CONFIG", "SET", "maxmemory", "0");
    }
  }
}
