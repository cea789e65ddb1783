package dev.holdfast.redlock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A subscription over a connection that only records what is sent. */
class SubscriptionTest {
  private final List<String> sent = new ArrayList<>();
  private final List<List<String>> commands = new ArrayList<>();
  private final List<String> messages = new ArrayList<>();
  private final List<String> subscribed = new ArrayList<>();
  private int ends;

  private final Subscription subscription =
      new Subscription(
          "always",
          new Subscription.Listener() {
            @Override
            public void onMessage(String channel, String message) {
              messages.add(channel + "=" + message);
            }

            @Override
            public void onSubscribed(String channel) {
              subscribed.add(channel);
            }

            @Override
            public void onEnded(Subscription ended) {
              ends++;
            }
          });

  @Test
  void channelsAddedBeforeTheConnectionAreSubscribedInOneCommand() {
    subscription.subscribe("a");
    subscription.subscribe("b");
    subscription.unsubscribe("a");
    connect();

    assertThat(sent).containsExactly("SUBSCRIBE always b");
  }

  @Test
  void changesWaitForTheReplyToThePreviousCommand() {
    connect();
    for (int name = 0; name < 1_000; name++) {
      subscription.subscribe("name" + name);
      subscription.subscribe("kept" + name);
      subscription.unsubscribe("name" + name);
    }
    subscription.unsubscribe("always");
    assertThat(sent).containsExactly("SUBSCRIBE always");
    answer();
    assertThat(commands.get(1)).hasSize(1_000).startsWith("kept0", "kept1");
    commands.get(1).subList(0, 999).forEach(subscription::onAnswered);
    assertThat(commands).hasSize(2);
    subscription.onAnswered("kept999");

    assertThat(sent).last().isEqualTo("UNSUBSCRIBE always");
  }

  @Test
  void oneCommandHoldsAbout16KiBOfChannels() {
    connect();
    for (int name = 0; name < 100; name++) {
      subscription.subscribe("x".repeat(1_020) + (1_000 + name));
    }
    answer();
    assertThat(commands.get(1)).hasSize(16);
    while (commands.size() < 8) {
      answer();
    }
    assertThat(commands.get(7)).hasSize(4);
  }

  @Test
  void aChannelThatIsWantedAgainBeforeItIsUnsubscribedStaysSubscribed() {
    subscription.subscribe("a");
    connect();
    subscription.unsubscribe("a");
    subscription.subscribe("a");
    answer();

    assertThat(sent).containsExactly("SUBSCRIBE always a");
  }

  @Test
  void aConnectionIsClosedOnceAndItsEndIsNotReported() {
    connect();
    subscription.close();
    subscription.close();
    assertThat(subscription.ended()).isNotDone();
    subscription.onEnded();

    assertThat(sent).containsExactly("SUBSCRIBE always", "close");
    assertThat(subscription.ended()).isCompleted();
    assertThat(ends).isZero();
  }

  @Test
  void aConnectionThatIsMadeAfterCloseIsClosedAtOnce() {
    subscription.close();
    connect();

    assertThat(sent).containsExactly("close");
  }

  @Test
  void endIsReportedOnceAndTheConnectionIsClosedForGood() {
    connect();
    subscription.onEnded();
    subscription.onEnded();
    subscription.subscribe("a");
    subscription.onAnswered("always");

    assertThat(ends).isOne();
    assertThat(sent).containsExactly("SUBSCRIBE always", "close");
  }

  @Test
  void aConnectionThatWasNotMadeHasEnded() {
    subscription.onEnded();

    assertThat(ends).isOne();
    assertThat(subscription.ended()).isCompleted();
  }

  @Test
  void refusalClosesTheConnectionAndIsNotReportedAsItsEnd() {
    connect();
    subscription.onError("NOPERM this user has no permissions");
    subscription.onEnded();

    assertThat(sent).containsExactly("SUBSCRIBE always", "close");
    assertThat(ends).isZero();
  }

  @Test
  void anotherErrorIsAnEnd() {
    connect();
    subscription.onError("ERR max number of clients reached");

    assertThat(sent).containsExactly("SUBSCRIBE always", "close");
    assertThat(ends).isOne();
  }

  @Test
  void subscribedChannelsAreReportedAndUnsubscribedOnesAreNot() {
    subscription.subscribe("a");
    connect();
    subscription.unsubscribe("a");
    assertThat(subscribed).isEmpty();
    subscription.onAnswered("a");
    subscription.onAnswered("always");
    assertThat(sent).last().isEqualTo("UNSUBSCRIBE a");
    answer();
    assertThat(subscribed).containsExactly("a", "always");

    subscription.subscribe("b");
    subscription.close();
    answer();
    assertThat(subscribed).as("after the end").hasSize(2);
  }

  @Test
  void messagesArePassedOn() {
    subscription.onMessage("a", "1");
    assertThat(messages).containsExactly("a=1");
  }

  private void connect() {
    subscription.onConnected(
        new PubSubConnection() {
          @Override
          public void subscribe(List<String> channels) {
            send("SUBSCRIBE", channels);
          }

          @Override
          public void unsubscribe(List<String> channels) {
            send("UNSUBSCRIBE", channels);
          }

          @Override
          public void close() {
            sent.add("close");
          }
        });
  }

  private void send(String command, List<String> channels) {
    sent.add(command + " " + String.join(" ", channels));
    commands.add(channels);
  }

  private void answer() {
    List<String> last = commands.get(commands.size() - 1);
    last.forEach(subscription::onAnswered);
  }
}
