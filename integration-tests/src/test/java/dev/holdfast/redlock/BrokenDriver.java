package dev.holdfast.redlock;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.redlock.BrokenSubscriptions.Mistake;
import dev.holdfast.redlock.jedis.JedisConnections;
import dev.holdfast.redlock.spi.RedisConnections;
import dev.holdfast.redlock.spi.RedisNodes;
import dev.holdfast.spi.OpenSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Drivers that break one promise each: a row of the table in docs/drivers.md. */
enum BrokenDriver {
  OVERTAKES(
      "a release overtakes its `SET`",
      made -> new BrokenCommands.TwoConnections(made.get(), made.get())),
  SENDS_AGAIN(
      "a command is sent again after a reconnect",
      made -> new BrokenCommands.Replaying(made.get())),
  MIXES_REPLIES(
      "a late reply is taken for another command's",
      made -> new BrokenReplies.Forgetful(made.get())),
  BLOCKS("a call blocks on one node", made -> new BrokenCommands.Blocking(made.get())),
  IS_IMPATIENT(
      "a reply is given up, or its connection, before `quorumTimeout`",
      made -> new BrokenReplies.Impatient(made.get(), 100)),
  ENDS_SILENT_CONNECTIONS(
      "a connection ends on which a command is unanswered for 2.5 s",
      made -> new BrokenReplies.Impatient(made.get(), 2_500)),
  BLOCKS_WHEN_FULL(
      "a call blocks while 128 commands to a node are unanswered",
      made -> new BrokenCommands.Bounded(made.get(), 128, 500, false)),
  REFUSES_WHEN_FULL(
      "a command fails while 200 other commands to its node are unanswered",
      made -> new BrokenCommands.Bounded(made.get(), 200, 0, true)),
  CUTS_ARGUMENTS(
      "arguments are cut after 256 bytes", made -> new BrokenCommands.Cutting(made.get())),
  KEEPS_RELEASES_BACK(
      "a release waits for the reply to an extension",
      made -> new BrokenCommands.OneAfterTheOther(made.get())),
  FORGETS_THE_DATABASE(
      "a connection that is made again is in another database",
      (uris, options, settings) ->
          new BrokenConnects.WrongLater(
              JedisConnections.of(uris, options, settings),
              JedisConnections.of(inFirstDatabase(uris, "\\d+"), options, settings))),
  GOES_ON_WITHOUT_A_DATABASE(
      "a connection whose `SELECT` fails stays in the first database",
      (uris, options, settings) ->
          JedisConnections.of(inFirstDatabase(uris, "\\d{3,}"), options, settings)),
  SELECTS_ON_THE_FIRST_CONNECTION_ALONE(
      "the second connection to a node is in the first database",
      (uris, options, settings) ->
          new BrokenConnects.OtherSecond(
              JedisConnections.of(uris, options, settings),
              JedisConnections.of(inFirstDatabase(uris, "\\d+"), options, settings),
              true)),
  LEAVES_SECOND_CONNECTIONS(
      "second connections are not closed",
      (uris, options, settings) ->
          new BrokenConnects.OtherSecond(
              JedisConnections.of(uris, options, settings),
              JedisConnections.of(uris, options, settings),
              false)),
  SENDS_NO_EMPTY_PASSWORD(
      "a user whose password is empty does not log in",
      (uris, options, settings) ->
          JedisConnections.of(
              uris.stream().map(uri -> uri.replaceFirst("://[^:@/]+:?@", "://")).toList(),
              options,
              settings)),
  SHOWS_WHAT_WAS_SENT(
      "the error of a login that ends or fails shows the command",
      (uris, options, settings) ->
          new BrokenConnects.Showing(JedisConnections.of(uris, options, settings), uris)),
  DECODES_TWICE(
      "a password is decoded twice",
      (uris, options, settings) ->
          JedisConnections.of(
              uris.stream().map(uri -> uri.replaceAll("%25(?=[0-9A-F]{2})", "%")).toList(),
              options,
              settings)),
  TRUSTS_ANY_HOST(
      "a certificate may name another host",
      (uris, options, settings) ->
          isTls(uris)
              ? JedisConnections.ofAnyHost(uris, options, settings)
              : JedisConnections.of(uris, options, settings)),
  TRUSTS_ANY_HOST_LATER(
      "the certificate of a connection that is made again may name another host",
      (uris, options, settings) ->
          isTls(uris)
              ? new BrokenConnects.WrongLater(
                  JedisConnections.of(uris, options, settings),
                  JedisConnections.ofAnyHost(uris, options, settings))
              : JedisConnections.of(uris, options, settings)),
  TRUSTS_FOR_EVER(
      "a certificate that has expired is trusted",
      (uris, options, settings) ->
          JedisConnections.of(
              uris,
              options,
              settings
                  .trustManagers()
                  .map(trust -> settings.trustManagers(BrokenTrust.of(trust)))
                  .orElse(settings))),
  TRUSTS_BEGINNINGS(
      "a certificate may name a host whose name begins like the node's",
      (uris, options, settings) ->
          isTls(uris)
              ? JedisConnections.of(uris, options, settings, BrokenTrust::namesBeginning)
              : JedisConnections.of(uris, options, settings)),
  LEAVES_A_THREAD_IF_IT_REFUSES_TLS(
      "a thread that was started before TLS is refused does not end",
      (uris, options, settings) -> {
        if (isTls(uris)) {
          BrokenConnects.thread("watches connections");
          throw new LockConfigurationException("this driver has no TLS: write redis://");
        }
        return JedisConnections.of(uris, options, settings);
      }),
  SUBSCRIBES_IN_THE_CLEAR(
      "the subscribing connection to `rediss://` uses no TLS",
      (uris, options, settings) ->
          new BrokenSubscriptions(
              JedisConnections.of(uris, options, settings), uris, Mistake.NONE)),
  SHOWS_NO_CERTIFICATE(
      "key managers are ignored",
      (uris, options, settings) ->
          JedisConnections.of(
              uris,
              options,
              settings
                  .trustManagers()
                  .map(trust -> OpenSettings.none().trustManagers(trust))
                  .orElse(settings))),
  TRUSTS_ON_THE_FIRST_CONNECTION_ALONE(
      "the second connection to a node takes no trust managers",
      (uris, options, settings) ->
          new BrokenConnects.OtherSecond(
              JedisConnections.of(uris, options, settings),
              JedisConnections.of(uris, options, OpenSettings.none()),
              true)),
  FORGETS_THE_SETTINGS(
      "trust and key managers are ignored",
      (uris, options, settings) -> JedisConnections.of(uris, options, OpenSettings.none())),
  DECODES_VALUES(
      "a value that looks like a number becomes one",
      made -> PassingNodes.answering(made.get(), BrokenReplies.DecodesNumbers::new)),
  SPEAKS_IN_THE_CLEAR(
      "`rediss://` is spoken in the clear",
      (uris, options, settings) ->
          JedisConnections.of(
              uris.stream().map(uri -> uri.replaceFirst("^rediss:", "redis:")).toList(),
              options,
              settings)),
  TRUSTS_ALL(
      "any certificate is trusted",
      (uris, options, settings) ->
          isTls(uris)
              ? JedisConnections.trustingAll(uris, options)
              : JedisConnections.of(uris, options, settings)),
  COUNTS_IN_SECONDS(
      "times are sent in whole seconds", made -> new BrokenCommands.InSeconds(made.get())),
  HAS_ONE_CONNECTION(
      "the second connection to a node takes the place of the first",
      made -> new BrokenReplies.OneSlot(made.get())),
  LEAVES_SOCKETS(
      "a connection that was not established is not closed",
      (uris, options, settings) ->
          new BrokenConnects.Leaving(JedisConnections.of(uris, options, settings), uris)),
  GIVES_UP_CONNECTING(
      "a node that could not be connected ten times in a row is given up",
      made -> new BrokenConnects.GivingUp(made.get(), 10, ".*")),
  GIVES_UP_LOGINS(
      "a node that refused a login three times in a row is given up",
      made -> new BrokenConnects.GivingUp(made.get(), 3, ".*(NOAUTH|WRONGPASS).*")),
  SENDS_WHAT_FAILED_AGAIN(
      "a command that a node was too busy for is sent again 150 ms later",
      made -> new BrokenCommands.SendingAgain(made.get())),
  SHARES_LOGINS(
      "the first password of a user is used for all managers",
      (uris, options, settings) ->
          JedisConnections.of(
              uris.stream().map(BrokenConnects::withFirstPassword).toList(), options, settings)),
  LOGS_PASSWORDS(
      "a password is logged when a connection is made again",
      (uris, options, settings) ->
          new BrokenConnects.Logging(JedisConnections.of(uris, options, settings), uris)),
  LEAVES_THREADS(
      "the thread of a connection that was not established is not ended",
      made -> new BrokenConnects.LeavingThreads(made.get())),
  ASKS_FOR_CLIENT_ID(
      "a connection is not used if `CLIENT ID` is refused",
      made -> new BrokenConnects.Asking(made.get(), "CLIENT", "ID")),
  ASKS_FOR_SCRIPTS(
      "a connection is not used if `SCRIPT EXISTS` is refused",
      made -> new BrokenConnects.Asking(made.get(), "SCRIPT", "EXISTS", "0")),
  CONNECTS_AT_ONCE(
      "each node is tried when the driver is made",
      (uris, options, settings) ->
          BrokenConnects.tried(uris, JedisConnections.of(uris, options, settings))),
  SENDS_RELEASES_FIRST(
      "a release is sent before commands that wait for their turn",
      made -> new OvertakingNodes.ReleasesFirst(made.get())),
  SENDS_LARGE_COMMANDS_LATER(
      "large commands wait in a queue of their own",
      made -> new OvertakingNodes.LargeLater(made.get())),
  HAS_NO_ORDER(
      "each command is sent by a thread of its own",
      made -> new OvertakingNodes.Unordered(made.get())),
  TAKES_NIL_FOR_DONE(
      "an `EXEC` that replied nil is taken as done",
      made -> new BrokenReplies.NilIsDone(made.get())),
  FAILS_IDLE_CONNECTIONS(
      "the command after an idle time of 2 s fails, and ends its connection",
      made -> new BrokenReplies.FailsIdle(made.get())),
  TAKES_ERRORS_FOR_NIL(
      "the errors `BUSY`, `MISCONF` and `NOREPLICAS` are reported as nil",
      made -> PassingNodes.answering(made.get(), BrokenReplies.ErrorsAreNil::new)),
  TAKES_READONLY_FOR_AN_END(
      "the error `READONLY` is reported as the end of the connection",
      made -> PassingNodes.answering(made.get(), BrokenReplies.ReadonlyIsAnEnd::new)),
  SHOWS_COMMANDS(
      "the error of a node is reported with the command",
      made -> PassingNodes.answering(made.get(), BrokenReplies.ShowingCommands::new)),
  LOGS_SLOW_COMMANDS(
      "a command that takes 100 ms is logged",
      made -> PassingNodes.answering(made.get(), BrokenReplies.LoggingSlowCommands::new)),
  CONNECTS_ONE_AFTER_THE_OTHER(
      "a connection is made when the one before is there, or has failed",
      made -> new BrokenConnects.OneAfterTheOther(made.get())),
  REPORTS_ENDS_LATE(
      "the end of an idle connection is reported with the next command",
      made -> new BrokenConnects.NoticingLate(made.get())),
  REPORTS_SECOND_ENDS_LATE(
      "the end of an idle second connection is reported with the next command",
      (uris, options, settings) ->
          BrokenConnects.noticingLateOnSecond(JedisConnections.of(uris, options, settings))),
  RESOLVES_AT_ONCE(
      "the addresses of hosts are looked up when the driver is made",
      (uris, options, settings) ->
          BrokenConnects.resolved(uris, JedisConnections.of(uris, options, settings))),
  DROPS_UNDERSCORES(
      "underscores are dropped from the names of hosts",
      (uris, options, settings) ->
          JedisConnections.of(
              uris.stream().map(uri -> uri.replaceAll("_(?=[^@]*$)", "")).toList(),
              options,
              settings)),
  RELEASES_TWICE(
      "an opening that fails reduces a count of users that it never increased",
      made -> new BrokenConnects.ReleasingTwice(made.get())),
  NAMES_THREADS_BY_LOGIN(
      "threads are named after the URI of their node",
      (uris, options, settings) ->
          new BrokenConnects.NamingThreads(JedisConnections.of(uris, options, settings), uris)),
  NAMES_NODES_IN_ERRORS(
      "the error of a refused login has the node before it",
      made -> new BrokenConnects.NamingNodes(made.get())),
  GIVES_NO_REASON(
      "the error of a connection that was not established has no reason",
      made -> new BrokenConnects.WithoutReason(made.get())),
  LEAVES_SERVERS_ALONE(
      "a server that refused three connections in a row is left alone for a minute",
      made -> new BrokenConnects.LeavingAlone(made.get())),
  HAS_A_POOL(
      "a process has connections of eight managers to a node at most",
      made -> new BrokenConnects.Pooling(made.get(), 8)),
  LEAVES_NODES_OUT(
      "a node whose connections have ended fifteen times is not connected any more",
      made -> new BrokenConnects.LeavingOut(made.get(), 15)),
  REPORTS_THE_FIRST_ERROR(
      "the first error of a host is reported for all of its nodes",
      made -> new BrokenConnects.SharingErrors(made.get())),
  READS_TEXTS_ALONE(
      "a reply that is no UTF-8 ends the connection",
      made -> PassingNodes.answering(made.get(), BrokenReplies.TextsAlone::new)),
  TAKES_ENDS_FOR_NIL(
      "a command whose connection ended is reported as nil",
      made -> PassingNodes.answering(made.get(), BrokenReplies.EndsAreNil::new)),
  WATCHES_ELSEWHERE(
      "`WATCH` is sent on the first connection, and its transaction on the second",
      made -> new BrokenCommands.WatchingElsewhere(made.get())),
  DROPS_WHAT_IS_DECIDED(
      "a node is not asked once its round is decided",
      made -> new BrokenCommands.Dropping(made.get())),
  DROPS_THE_GUARD(
      "the option `restartGuard` is dropped",
      JedisConnections::of,
      options -> without(options, "restartGuard")),
  DROPS_OTHER_OPTIONS(
      "the options `cluster` and `drift` are dropped",
      JedisConnections::of,
      options -> without(options, "cluster", "drift")),
  DECODES_OPTIONS(
      "options that a program gives are decoded like those of a URL",
      JedisConnections::of,
      options -> {
        Map<String, String> decoded = new HashMap<>(options);
        decoded.replaceAll((name, value) -> value.replace("%25", "%"));
        return decoded;
      }),
  STRIPS_OPTIONS(
      "the values of options are stripped",
      JedisConnections::of,
      options -> {
        Map<String, String> stripped = new HashMap<>(options);
        stripped.replaceAll((name, value) -> value.strip());
        return stripped;
      }),
  IS_DEAF_AFTER_A_CUT(
      "the end of a subscribing connection is not reported", Mistake.END_NOT_REPORTED),
  NEVER_UNSUBSCRIBES("a name is never unsubscribed", Mistake.NEVER_UNSUBSCRIBES),
  UNSUBSCRIBES_FROM_ALL("`UNSUBSCRIBE` is sent without its names", Mistake.UNSUBSCRIBES_FROM_ALL),
  SUBSCRIBES_ONE_NAME(
      "a command subscribes to the first of its names only", Mistake.SUBSCRIBES_ONE_NAME),
  SUBSCRIBES_ONCE("names that are wanted later are not subscribed", Mistake.SUBSCRIBES_ONCE),
  TAKES_NAMES_FOR_PATTERNS(
      "names are subscribed by `PSUBSCRIBE`", Mistake.TAKES_NAMES_FOR_PATTERNS),
  TAKES_PATTERNS_FOR_NAMES(
      "a message is reported with the pattern that it matched", Mistake.TAKES_PATTERNS_FOR_NAMES),
  SUBSCRIBES_WITHOUT_LOGIN("the subscribing connection does not log in", Mistake.DOES_NOT_LOG_IN),
  LEAVES_REFUSED_SUBSCRIPTIONS(
      "a subscribing connection is not closed after its `SUBSCRIBE` was refused",
      Mistake.STAYS_OPEN_IF_REFUSED),
  LEAVES_SUBSCRIPTIONS("the subscribing connection is not closed", Mistake.STAYS_OPEN);

  private final String row;

  @SuppressWarnings("ImmutableEnumChecker") // a function without state
  private final UnaryOperator<Map<String, String>> options;

  @SuppressWarnings("ImmutableEnumChecker") // a function without state
  private final Breaking broken;

  /** Makes the broken driver. */
  private interface Breaking {
    RedisNodes of(List<String> uris, RedlockOptions options, OpenSettings settings);
  }

  BrokenDriver(String row, Function<Supplier<RedisNodes>, RedisNodes> broken) {
    this(
        row,
        (uris, options, settings) ->
            alsoOnSecondConnections(
                broken.apply(() -> JedisConnections.of(uris, options, settings)), broken));
  }

  /** Breaks the second connections as well, unless this driver has a mistake of its own there. */
  private static RedisNodes alsoOnSecondConnections(
      RedisNodes first, Function<Supplier<RedisNodes>, RedisNodes> broken) {
    if (!(first instanceof PassingNodes passing) || first.second() != passing.nodes.second()) {
      return first;
    }
    RedisConnections second =
        broken.apply(() -> new PassingNodes(passing.nodes, passing.nodes.second())).first();
    return new PassingNodes(first) {
      @Override
      public RedisConnections second() {
        return second;
      }
    };
  }

  BrokenDriver(String row, Mistake mistake) {
    this(
        row,
        (uris, options, settings) ->
            new BrokenSubscriptions(JedisConnections.of(uris, options, settings), uris, mistake));
  }

  BrokenDriver(String row, Breaking broken) {
    this(row, broken, options -> options);
  }

  BrokenDriver(String row, Breaking broken, UnaryOperator<Map<String, String>> options) {
    this.row = row;
    this.broken = broken;
    this.options = options;
  }

  private static Map<String, String> without(Map<String, String> options, String... dropped) {
    Map<String, String> others = new HashMap<>(options);
    List.of(dropped).forEach(others::remove);
    return others;
  }

  /** Returns the options of which the driver learns, of those that a manager is given. */
  Map<String, String> read(Map<String, String> given) {
    return options.apply(given);
  }

  /** Breaks the driver for Jedis. */
  RedisNodes over(List<String> uris, RedlockOptions options, OpenSettings settings) {
    return broken.of(uris, options, settings);
  }

  private static boolean isTls(List<String> uris) {
    return uris.stream().allMatch(uri -> uri.startsWith("rediss:"));
  }

  /** Removes the numbers of databases that match. */
  private static List<String> inFirstDatabase(List<String> uris, String databases) {
    return uris.stream().map(uri -> uri.replaceAll("/" + databases + "$", "")).toList();
  }

  /** Returns the row's first cell, word by word. */
  String row() {
    return row;
  }
}
