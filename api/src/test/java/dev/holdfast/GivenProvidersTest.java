package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.LockProvider;
import dev.holdfast.spi.LockUrl;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(20)
class GivenProvidersTest {
  private final InMemoryLocks opened = new InMemoryLocks();

  @Test
  void providerThatAcceptsTheUrlOpensIt() {
    LockManager manager =
        open("b:", provider("a", url -> url.scheme().equals("a")), provider("b", this::isB));

    assertThat(manager).isSameAs(opened);
  }

  @ParameterizedTest
  @CsvSource({
    "b:, true",
    "b:name, true",
    "b:redis://h, true",
    "a:, false",
    "a:b:redis://h, false",
    "b:a:redis://h, false"
  })
  void byDefaultAProviderServesTheSchemeOfItsNameWithoutADriver(String url, boolean serves) {
    LockProvider named =
        new LockProvider() {
          @Override
          public String name() {
            return "b";
          }

          @Override
          public LockManager open(LockUrl url) {
            return opened;
          }
        };

    assertThat(named.accepts(LockUrl.parse(url, Map.of()))).isEqualTo(serves);
  }

  @Test
  void optionsReachTheProvider() {
    LockManager manager =
        LockManager.open(
            "b:?x=1",
            Map.of("x", "2"),
            List.of(provider("b", url -> url.text("x", "?").equals("2"))));

    assertThat(manager).isSameAs(opened);
  }

  @Test
  void providerThatThrowsIsSkipped() {
    LockProvider broken =
        provider(
            "broken",
            url -> {
              throw new IllegalArgumentException("no idea");
            });

    assertThat(open("b:", broken, provider("b", this::isB))).isSameAs(opened);
    assertThatThrownBy(() -> open("a:", broken, provider("b", this::isB)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("found:\n  broken (")
        .hasMessageContaining("\n  b (")
        .hasMessageContaining("broken:\n  broken (")
        .hasMessageContaining("fails with java.lang.IllegalArgumentException")
        .hasCauseInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void exceptionOfAnOpeningProviderIsThrownUnchanged() {
    LockOutageException outage = new LockOutageException("down", Map.of(), false);
    LockProvider provider =
        new TestProvider("b", this::isB) {
          @Override
          public LockManager open(LockUrl url) {
            throw outage;
          }
        };

    assertThatThrownBy(() -> open("b:", provider)).isSameAs(outage);
  }

  @Test
  void errorForTwoAcceptingProvidersDoesNotSuggestAddingADriver() {
    assertThatThrownBy(() -> open("b:driver:x", provider("b", this::isB), provider("c", this::isB)))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("several backends serve b:driver:x; choose one, or leave")
        .hasMessageNotContaining("write");
  }

  @Test
  void endlesslyFailingIterableIsAbandoned() {
    AtomicInteger failures = new AtomicInteger();
    Iterable<LockProvider> broken =
        () ->
            new Iterator<>() {
              @Override
              public boolean hasNext() {
                failures.incrementAndGet();
                throw new ServiceConfigurationError("cannot read");
              }

              @Override
              public LockProvider next() {
                throw new AssertionError("there is none");
              }
            };

    assertThatThrownBy(() -> LockManager.open("b:", Map.of(), broken))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("java.util.ServiceConfigurationError: cannot read")
        .hasNoSuppressedExceptions();
    assertThat(failures).hasValue(32);
  }

  @ParameterizedTest(name = "[{index}] {0}")
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          redlock:redis://h1         ; add one driver to the class path or module path: dev.holdfast:holdfast-redlock-jedis, -lettuce or -redisson
          redlock:lettuce:redis://h1 ; add dev.holdfast:holdfast-redlock-lettuce to the class path
          redlock:jedis:redis://h1   ; add dev.holdfast:holdfast-redlock-jedis to the class path
          redlock:lettuce            ; the nodes are missing: write redlock:redis://host:6379
          redlock:redison:redis://h1 ; there is no driver 'redison' here: the nearest is redisson
          redlock:vertx:redis://h1   ; there is no driver 'vertx' here: there are jedis, lettuce, redisson; leave it out
          memory:                    ; add dev.holdfast:holdfast-memory to the class path
          setnx:redis://h1           ; add dev.holdfast:holdfast-legacy-setnx-getset to the class path
          migrate:both               ; add dev.holdfast:holdfast-legacy-setnx-getset to the class path
          etcd:x                     ; there is no kind of lock 'etcd' here: there are memory, migrate, redlock, setnx;
          redlok:redis://h1          ; there is no kind of lock 'redlok' here: the nearest is redlock
          """)
  void withoutAProviderTheErrorSaysWhatToWriteOrToAdd(String url, String advice) {
    assertThatThrownBy(() -> open(url))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageStartingWith("no backend serves " + url + "; " + advice)
        .hasMessageEndingWith("\nfound: none")
        .hasNoCause();
  }

  private boolean isB(LockUrl url) {
    return url.scheme().equals("b");
  }

  private static LockManager open(String url, LockProvider... providers) {
    return LockManager.open(url, Map.of(), List.of(providers));
  }

  private LockProvider provider(String name, Predicate<LockUrl> accepts) {
    return new TestProvider(name, accepts);
  }

  private class TestProvider implements LockProvider {
    private final String name;
    private final Predicate<LockUrl> accepts;

    TestProvider(String name, Predicate<LockUrl> accepts) {
      this.name = name;
      this.accepts = accepts;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public boolean accepts(LockUrl url) {
      return accepts.test(url);
    }

    @Override
    public LockManager open(LockUrl url) {
      return opened;
    }
  }
}
