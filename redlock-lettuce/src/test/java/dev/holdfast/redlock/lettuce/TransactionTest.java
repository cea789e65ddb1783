package dev.holdfast.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.Command;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What releases and extends a lock where scripts are forbidden. */
@ParameterizedClass
@EnumSource(Links.Kind.class)
class TransactionTest {
  private static final TestNodes SERVERS = TestNodes.start(1);
  private static final TestNode SERVER = SERVERS.node(0);

  /** The second connection to the only node. */
  private static final int SECOND = 1;

  private final Links.Driver driver;

  TransactionTest(Links.Kind kind) {
    driver = Links.over(kind, SERVERS);
  }

  @BeforeEach
  void connect() throws Exception {
    SERVER.command("FLUSHALL");
    SERVER.command("SET", "the-key", "mine");
    driver.connect(SECOND);
  }

  @AfterEach
  void close() {
    driver.close();
  }

  @AfterAll
  static void stop() {
    SERVERS.close();
  }

  @Test
  void whatWasWatchedAndIsUnchangedIsDeleted() {
    assertThat(ask("WATCH", "the-key").reply()).isEqualTo("OK");
    assertThat(ask("GET", "the-key").reply()).isEqualTo("mine");

    Asked multi = ask("MULTI");
    Asked queued = ask("DEL", "the-key");
    Asked exec = ask("EXEC");

    assertThat(multi.reply()).isEqualTo("OK");
    assertThat(queued.reply()).isEqualTo("QUEUED");
    assertThat(exec.reply()).isEqualTo(List.of(1L));
    assertThat(SERVER.command("EXISTS", "the-key")).isEqualTo(0L);
  }

  @Test
  void whatHasChangedSinceIsLeftAloneAndTheReplyIsNil() {
    assertThat(ask("WATCH", "the-key").reply()).isEqualTo("OK");
    SERVER.command("SET", "the-key", "another's");

    Asked multi = ask("MULTI");
    Asked queued = ask("DEL", "the-key");
    Asked exec = ask("EXEC");

    assertThat(exec.reply()).isNull();
    assertThat(multi.reply()).isEqualTo("OK");
    assertThat(queued.reply()).isEqualTo("QUEUED");
    assertThat(SERVER.command("GET", "the-key")).isEqualTo("another's");
  }

  @Test
  void nilKeepsItsPlaceAmongTheResults() {
    ask("MULTI");
    ask("GET", "missing");
    ask("GET", "the-key");
    assertThat(ask("EXEC").reply()).isEqualTo(Arrays.asList(null, "mine"));
  }

  @Test
  void anEmptyTransactionIsAnEmptyList() {
    ask("MULTI");
    assertThat(ask("EXEC").reply()).isEqualTo(List.of());
  }

  @Test
  void aTransactionThatWasRefusedIsAnError() {
    ask("MULTI");
    assertThat(ask("GET").error()).startsWith("ERR wrong number");
    assertThat(ask("EXEC").error()).startsWith("EXECABORT ");
    assertThat(ask("EXEC").error()).isEqualTo("ERR EXEC without MULTI");
    assertThat(ask("GET", "the-key").reply()).isEqualTo("mine");
  }

  private Asked ask(String... words) {
    return Asked.of(driver.nodes, 1L << SECOND, () -> {}, new Command.Plain(List.of(words)));
  }
}
