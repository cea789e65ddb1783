package dev.holdfast.drivertests;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testnodes.TestNode;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The transactions that release and extend a lock where scripts are forbidden. */
public abstract class TransactionContract {
  @RegisterExtension static final OneServer SERVER = new OneServer();

  private final TestNode server = SERVER.node();
  private final Driver driver;

  /**
   * For each test a driver is made.
   *
   * @param drivers make one over the servers with these addresses
   */
  protected TransactionContract(Function<List<String>, Driver> drivers) {
    driver = SERVER.open(drivers);
  }

  @BeforeEach
  void connect() throws Exception {
    server.command("FLUSHALL");
    server.command("SET", "the-key", "mine");
    driver.connectSecond(0);
  }

  @Test
  void unchangedWatchedKeyIsDeleted() {
    assertThat(ask("WATCH", "the-key").reply()).isEqualTo("OK");
    assertThat(ask("GET", "the-key").reply()).isEqualTo("mine");

    Asked multi = ask("MULTI");
    Asked queued = ask("DEL", "the-key");
    Asked exec = ask("EXEC");

    assertThat(multi.reply()).isEqualTo("OK");
    assertThat(queued.reply()).isEqualTo("QUEUED");
    assertThat(exec.reply()).isEqualTo(List.of(1L));
    assertThat(server.command("EXISTS", "the-key")).isEqualTo(0L);
  }

  @Test
  void changedWatchedKeyIsKeptAndTheReplyIsNil() {
    assertThat(ask("WATCH", "the-key").reply()).isEqualTo("OK");
    server.command("SET", "the-key", "another's");

    Asked multi = ask("MULTI");
    Asked queued = ask("DEL", "the-key");
    Asked exec = ask("EXEC");

    assertThat(exec.reply()).isNull();
    assertThat(multi.reply()).isEqualTo("OK");
    assertThat(queued.reply()).isEqualTo("QUEUED");
    assertThat(server.command("GET", "the-key")).isEqualTo("another's");
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
    return Asked.plainly(driver.nodes().second(), 0, words);
  }
}
