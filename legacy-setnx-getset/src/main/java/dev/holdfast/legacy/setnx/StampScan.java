package dev.holdfast.legacy.setnx;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockException;
import dev.holdfast.LockOutageException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Looks through a server for values that look like time stamps of old locks: strings that are
 * numbers of seconds or milliseconds, with or without a fraction, for a time from 2001 until a year
 * from now. It uses SCAN at a limited rate and fetches no value that is longer than a stamp. Not
 * safe for use by several threads.
 */
public final class StampScan implements AutoCloseable {
  /** The most keys of one command: a server needs about a millisecond for it. */
  private static final int MAX_AT_ONCE = 1_000;

  private static final int BATCHES_PER_SECOND = 10;
  private static final String ALL = "*";
  private static final String FIRST_CURSOR = "0";
  private static final String STRING = "string";

  /** The last of those that are fetched: one more than a stamp has. */
  private static final String BYTES = Integer.toString(FoundStamp.LONGEST);

  private static final Pattern CALLS = Pattern.compile("cmdstat_(setnx|getset):calls=(\\d+)");

  private final String server;
  private final Connection connection;

  private StampScan(String server, Connection connection) {
    this.server = server;
    this.connection = connection;
  }

  /**
   * The result of a scan.
   *
   * @param keys how many keys were looked at
   * @param begun when it began, by the server's clock
   * @param at when it ended, by the server's clock
   * @param stamps the values that look like stamps of locks
   * @param calls how often clients called the commands of the old pattern meanwhile
   */
  public record Result(
      long keys, Instant begun, Instant at, List<FoundStamp> stamps, Calls calls) {}

  /**
   * The numbers of calls of the old pattern's own commands, by any client, in any database, for any
   * purpose. A scan of the keys misses a lock that is held only briefly. These counts include it.
   *
   * @param setnx calls of SETNX, with which each attempt begins
   * @param getset calls of GETSET, which takes a lock that has expired
   */
  public record Calls(long setnx, long getset) {
    /**
     * Returns whether there was a call.
     *
     * @return false if there was none
     */
    public boolean any() {
      return setnx + getset > 0;
    }

    private Calls since(Calls before) {
      return new Calls(grown(before.setnx, setnx), grown(before.getset, getset));
    }

    /** Returns the growth of a counter, which may have been reset in between. */
    private static long grown(long before, long after) {
      return after < before ? after : after - before;
    }
  }

  /**
   * Connects to a server.
   *
   * @param server {@code redis://[user[:password]@]host[:port][/db]}, or {@code rediss://} for TLS
   * @return a scan, to be closed by the caller
   * @throws LockOutageException if the server cannot be reached
   * @throws LockConfigurationException if the URI is wrong, or the server refuses the credentials
   */
  public static StampScan open(URI server) {
    Address address = Address.of(server);
    Connection connection =
        withServerNamed(address.text(), () -> new Connection(address.server(), address.config()));
    return new StampScan(address.text(), connection);
  }

  /**
   * Returns the number of keys, locks or not.
   *
   * @return the number that the server reports
   */
  public long keys() {
    return (long) call(Command.DBSIZE);
  }

  /**
   * Looks at all keys. A key that exists from the beginning to the end is seen. A key that exists
   * only for a part of this time may be missed.
   *
   * @param pattern which keys, as KEYS understands it, {@code *} for all
   * @param keysPerSecond the largest number of keys that the server looks at in a second
   * @param progress receives the approximate number of keys that the server has scanned
   * @return the result
   * @throws InterruptedException if the thread is interrupted
   * @throws LockOutageException if the server goes away
   * @throws LockConfigurationException if the user may not do this
   */
  public Result run(String pattern, int keysPerSecond, LongConsumer progress)
      throws InterruptedException {
    int batch = Math.max(1, Math.min(MAX_AT_ONCE, keysPerSecond / BATCHES_PER_SECOND));
    String bytesOfPattern = new String(pattern.getBytes(UTF_8), ISO_8859_1);
    Instant begun = time();
    Calls before = calls();
    RateLimit pace = new RateLimit(keysPerSecond);
    // A key may be named twice while the server's table grows.
    Map<String, FoundStamp> found = new LinkedHashMap<>();
    long keys = 0;
    String cursor = FIRST_CURSOR;
    do {
      List<?> page =
          (List<?>)
              call(Command.SCAN, cursor, "MATCH", bytesOfPattern, "COUNT", Integer.toString(batch));
      cursor = text(page.get(0));
      List<String> names = ((List<?>) page.get(1)).stream().map(StampScan::text).toList();
      // Before the values are read: so long at least each was live.
      Instant seen = time();
      stampsAmong(names, seen)
          .forEach(
              stamp ->
                  found.merge(stamp.key(), stamp, (one, later) -> one.wasLive() ? one : later));
      keys += names.size();
      // With a pattern the server looks at keys that it does not name.
      pace.after(pattern.equals(ALL) ? names.size() : Math.max(batch, names.size()));
      progress.accept(pace.done());
    } while (!cursor.equals(FIRST_CURSOR));
    Calls calls = calls().since(before);
    return new Result(keys, begun, time(), List.copyOf(found.values()), calls);
  }

  /**
   * Deletes stamps, each only if its value is still the one that was seen.
   *
   * @param stamps the stamps that {@link #run} found
   * @param keysPerSecond the largest number of keys in a second
   * @return the stamps that have changed or gone meanwhile, and were left as they are
   * @throws InterruptedException if the thread is interrupted
   * @throws LockOutageException if the server goes away, when some stamps may be deleted already
   * @throws LockConfigurationException if the user may not do this, or the server is a replica
   */
  public List<FoundStamp> deleteUnchanged(List<FoundStamp> stamps, int keysPerSecond)
      throws InterruptedException {
    List<FoundStamp> left = new ArrayList<>();
    RateLimit pace = new RateLimit(keysPerSecond);
    for (FoundStamp stamp : stamps) {
      if (!deleteUnchanged(stamp)) {
        left.add(stamp);
      }
      pace.after(1);
    }
    return left;
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (JedisException e) {
      // the server keeps nothing of the connection
    }
  }

  private boolean deleteUnchanged(FoundStamp stamp) {
    call(Command.WATCH, stamp.key());
    boolean unchanged =
        text(call(Command.TYPE, stamp.key())).equals(STRING)
            && text(call(Command.GETRANGE, stamp.key(), "0", BYTES)).equals(stamp.value());
    if (!unchanged) {
      call(Command.UNWATCH);
      return false;
    }
    call(Command.MULTI);
    call(Command.DEL, stamp.key());
    // Nothing is done, and there is no reply, if the key was touched since it was watched.
    return callOrNull(Command.EXEC) != null;
  }

  /** Asks for the type first, so that no longer value is fetched and no error is provoked. */
  private List<FoundStamp> stampsAmong(List<String> keys, Instant seen) {
    Map<String, Object> types = each(keys, Command.TYPE);
    List<String> strings =
        keys.stream().filter(key -> text(types.get(key)).equals(STRING)).toList();
    Map<String, Object> values = each(strings, Command.GETRANGE, "0", BYTES);
    List<FoundStamp> stamps =
        strings.stream()
            .flatMap(key -> FoundStamp.of(key, text(values.get(key)), seen).stream())
            .toList();
    Map<String, Object> ttls = each(stamps.stream().map(FoundStamp::key).toList(), Command.PTTL);
    return stamps.stream()
        .map(stamp -> withTtl(stamp, (long) Objects.requireNonNull(ttls.get(stamp.key()))))
        .toList();
  }

  private static FoundStamp withTtl(FoundStamp stamp, long millis) {
    return millis < 0 ? stamp : stamp.withTtl(Duration.ofMillis(millis));
  }

  private Instant time() {
    List<?> now = (List<?>) call(Command.TIME);
    return Instant.ofEpochSecond(
        Long.parseLong(text(now.get(0))),
        TimeUnit.MICROSECONDS.toNanos(Long.parseLong(text(now.get(1)))));
  }

  private Calls calls() {
    Map<String, Long> counts = new HashMap<>();
    Matcher lines = CALLS.matcher(text(call(Command.INFO, "commandstats")));
    while (lines.find()) {
      counts.put(lines.group(1), Long.valueOf(lines.group(2)));
    }
    return new Calls(counts.getOrDefault("setnx", 0L), counts.getOrDefault("getset", 0L));
  }

  /** Sends one command for each key, all together, and returns the replies. */
  private Map<String, Object> each(List<String> keys, Command command, String... more) {
    List<Object> replies =
        withServerNamed(
            server,
            () -> {
              keys.forEach(key -> connection.sendCommand(command, words(key, more)));
              return connection.getMany(keys.size());
            });
    Map<String, Object> replyOf = new HashMap<>();
    for (int i = 0; i < keys.size(); i++) {
      replyOf.put(keys.get(i), read(replies.get(i)));
    }
    return replyOf;
  }

  /**
   * Returns the reply, or an empty text if the key has another type. A key may have changed its
   * type since its type was read, and is then no stamp.
   */
  private Object read(Object reply) {
    if (reply instanceof JedisDataException error) {
      if (String.valueOf(error.getMessage()).startsWith("WRONGTYPE")) {
        return "";
      }
      throw failure(server, error);
    }
    return reply;
  }

  private Object call(Command command, String... words) {
    return Objects.requireNonNull(callOrNull(command, words), command::toString);
  }

  private @Nullable Object callOrNull(Command command, String... words) {
    return withServerNamed(
        server,
        () -> {
          connection.sendCommand(command, bytes(words));
          return connection.getOne();
        });
  }

  private static byte[][] words(String first, String... more) {
    return bytes(Stream.concat(Stream.of(first), Arrays.stream(more)).toArray(String[]::new));
  }

  private static byte[][] bytes(String... words) {
    return Arrays.stream(words).map(word -> word.getBytes(ISO_8859_1)).toArray(byte[][]::new);
  }

  /** Returns one character for each byte, because a reply may be no text. */
  private static String text(@Nullable Object reply) {
    return reply instanceof byte[] bytes ? new String(bytes, ISO_8859_1) : String.valueOf(reply);
  }

  private static <T extends @Nullable Object> T withServerNamed(String server, Supplier<T> talk) {
    try {
      return talk.get();
    } catch (JedisException e) {
      throw failure(server, e);
    }
  }

  private static LockException failure(String server, JedisException failure) {
    NodeException cause = NodeException.of(failure);
    return cause.isMisconfigured()
        ? new LockConfigurationException(server + ": " + cause.getMessage(), cause)
        : new LockOutageException("cannot look for locks", Map.of(server, cause), false);
  }
}
