package dev.holdfast.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.redlock.spi.Script;
import dev.holdfast.testnodes.RawRedis;
import dev.holdfast.testnodes.RedisErrorReply;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The simulated node against a real server: the same commands, the same replies and state. */
class NodeModelTest {
  private static final List<String> KEYS = List.of("a", "b", "c");
  private static final List<String> COUNTERS = List.of("d", "e");
  private static final String GUARD = "guard";
  private static final List<String> ALL = List.of("a", "b", "c", "d", "e", GUARD);
  private static final List<String> RECORD =
      List.of("HMGET", GUARD, "id", "terms", "new", "since", "wall", "longest", "begun");
  private static final String TERMS = "2000 3 ";
  private static final List<String> VALUES = List.of("one", "two", "3");

  /** Far apart, and far longer than the test, so that the time that passes decides nothing. */
  private static final List<String> TTLS = List.of("100000", "300000", "900000");

  private static final long TIME_OF_TEST = 60_000;

  /** Kinds of commands that are no scripts. */
  private static final int PLAIN = 11;

  /** One that is over before anything else can be asked, and one that outlasts the test. */
  private static final List<String> QUARANTINES = List.of("1", "900000000");

  /** Close to the largest fencing token. */
  private static final long LARGE = 1L << 52;

  private static final long SECOND = 1_000_000;
  private static final long HOUR = 3_600 * SECOND;

  private final Set<String> said = new HashSet<>();
  private long micros;

  @Test
  @DisplayName("random commands and all scripts of the core: same replies, same state")
  void randomCommandsGiveTheSameRepliesAndState() throws ReflectiveOperationException {
    List<Script> scripts = scriptsOfTheCore();
    assertThat(scripts).hasSizeGreaterThanOrEqualTo(11);
    try (TestNodes nodes = TestNodes.start(1)) {
      TestNode node = nodes.node(0);
      try (RawRedis real = RawRedis.connect(node.host(), node.port())) {
        for (long seed = 1; seed <= 40; seed++) {
          real.call("FLUSHALL");
          compare(new SplittableRandom(seed), "seed " + seed, real, scripts);
        }
      }
    }
    assertThat(said).contains("GUARDED", "QUARANTINE", "WRONGTYPE");
  }

  @Test
  @DisplayName("a guarded script writes the same record as on a real server")
  void guardsWriteTheSameRecord() throws ReflectiveOperationException {
    Script take =
        scriptsOfTheCore().stream().filter(NodeModelTest::isTake).findFirst().orElseThrow();
    Script end = scriptsOfTheCore().stream().filter(NodeModelTest::isEnd).findFirst().orElseThrow();
    try (TestNodes nodes = TestNodes.start(1);
        RawRedis real = RawRedis.connect(nodes.node(0).host(), nodes.node(0).port())) {
      real.call("FLUSHALL");
      KeySpace model = model(real);
      for (String id : List.of("another", identity(real))) {
        for (String since : List.of("0", Long.toString(micros(real) - HOUR))) {
          for (List<String> terms :
              List.of(List.<String>of(), List.of("terms", TERMS), List.of("terms", "2000 5 "))) {
            String clock = terms.isEmpty() ? "1" : Long.toString(HOUR);
            List<String> record = new ArrayList<>(terms);
            record.addAll(List.of("id", id, "since", since, "wall", clock, "new", "1"));
            record.addAll(0, List.of("HSET", GUARD));
            String[] words = record.toArray(String[]::new);
            real.call("DEL", GUARD);
            model.call("DEL", GUARD);
            real.call(words);
            model.call(words);
            for (String wall : List.of("2", "1", Long.toString(2 * HOUR))) {
              List<String> keys = List.of("a", GUARD);
              List<String> arguments =
                  List.of("one", "1000", "0", TERMS, Long.toString(5 * SECOND), wall);
              String when = String.join(" ", words) + ", then at " + wall;
              requireSame(
                  when,
                  0,
                  () -> eval(real, take.source(), keys, arguments),
                  () -> Lua.of(take.source()).run(model, keys, arguments));
              requireSameRecord(when, real, model);
              real.call("DEL", "a");
              model.call("DEL", "a");
            }
            List<String> ending =
                List.of(since, "0", TERMS, Long.toString(5 * SECOND), Long.toString(2 * HOUR));
            String when = String.join(" ", words) + ", then ended, and once more";
            for (int i = 0; i < 2; i++) {
              requireSame(
                  when,
                  0,
                  () -> eval(real, end.source(), List.of(GUARD), ending),
                  () -> Lua.of(end.source()).run(model, List.of(GUARD), ending));
              requireSameRecord(when, real, model);
            }
          }
        }
      }
    }
  }

  @Test
  @DisplayName(
      "redis.pcall goes on after an error, redis.call does not; PUBLISH counts subscribers")
  void scriptsGoOnAfterErrorsThatTheyCatch() {
    try (TestNodes nodes = TestNodes.start(1);
        RawRedis real = RawRedis.connect(nodes.node(0).host(), nodes.node(0).port())) {
      KeySpace model = new KeySpace(() -> micros);
      for (String source :
          List.of(
              "redis.call('SET', KEYS[1], 'one') return redis.pcall('HMGET', KEYS[1], 'id')",
              "redis.pcall('HSET', KEYS[1], 'id', 1) redis.call('SET', KEYS[1], 'two') return 7",
              "redis.call('HSET', KEYS[1], 'id', 1) redis.call('SET', KEYS[1], 'three') return 7",
              "return redis.call('GET', KEYS[1])",
              "return redis.pcall('PUBLISH', 'channel of ' .. KEYS[1], 'gone')",
              "return {redis.call('PUBLISH', KEYS[1], 'gone') == 0, ARGV[1] == '1', #ARGV ~= 0}")) {
        requireSame(
            source,
            0,
            () -> eval(real, source, List.of("a"), List.of("1")),
            () -> Lua.of(source).run(model, List.of("a"), List.of("1")));
      }
    }
    assertThat(said).containsExactly("WRONGTYPE");
  }

  @Test
  @DisplayName("a key is there until its last millisecond has passed, and not longer")
  void aKeyIsThereUntilItsTimeHasPassed() {
    KeySpace keys = new KeySpace(() -> micros);
    assertThat(keys.setIfAbsent("a", "one", 50)).isTrue();
    micros = 50_999;
    assertThat(keys.call("PTTL", "a")).isEqualTo(0L);
    assertThat(keys.setIfAbsent("a", "two", 50)).isFalse();
    micros = 51_000;
    assertThat(keys.call("GET", "a")).isNull();
    assertThat(keys.call("PTTL", "a")).isEqualTo(-2L);
    assertThat(keys.setIfAbsent("a", "two", 50)).isTrue();
  }

  @Test
  @DisplayName("a proposal that is far from the node's clock is not followed: ten seconds, no more")
  void aClockThatIsFarFromTheNodesIsNotFollowed() throws ReflectiveOperationException {
    String source =
        scriptsOfTheCore().stream()
            .map(Script::source)
            .filter(text -> text.contains("here + 10000000") && !isGuarded(text))
            .findFirst()
            .orElseThrow();
    try (TestNodes nodes = TestNodes.start(1);
        RawRedis real = RawRedis.connect(nodes.node(0).host(), nodes.node(0).port())) {
      for (long direction : List.of(1L, -1L)) {
        real.call("FLUSHALL");
        long before = micros(real);
        String proposal = Long.toString(before + direction * HOUR);
        List<String> words = List.of("one", "100000", proposal, "300000");
        List<String> keys = List.of("a", "d");
        long given = (Long) Objects.requireNonNull(eval(real, source, keys, words));
        long moved = direction * 10 * SECOND;
        assertThat(given).isBetween(before + moved, micros(real) + moved);

        KeySpace model = new KeySpace(() -> before);
        assertThat(Lua.of(source).run(model, keys, words)).isEqualTo(before + moved);
        long life = 300_000 + Math.max(0, moved / 1_000);
        assertThat((Long) real.call("PTTL", "d")).isBetween(life - TIME_OF_TEST, life);
        assertThat(model.call("PTTL", "d")).isEqualTo(life);
      }
    }
  }

  @Test
  @DisplayName("numbers become the same text as on a real server, and the same replies")
  void numbersBecomeTheSameText() {
    try (TestNodes nodes = TestNodes.start(1);
        RawRedis real = RawRedis.connect(nodes.node(0).host(), nodes.node(0).port())) {
      KeySpace model = new KeySpace(() -> micros);
      for (String number :
          List.of(
              "10 / 4",
              "1 / 3",
              "2 / 3 * 100000",
              "1 / 3 / 1000",
              "1 / 3 / 100000",
              "0 - 7 / 2",
              "1234567890 * 1000000 + 7",
              "4503599627370496 + 1",
              "1234567890 * 10000000000 / 7",
              "2 - 2",
              "math.ceil(7 / 2) + math.max(1, '12', 3) - math.min(4, 2)",
              "math.floor(7 / 2) + #KEYS",
              "'7' * '6'")) {
        String text =
            "redis.call('SET', KEYS[1], " + number + ") return redis.call('GET', KEYS[1])";
        String joined = "return 'is ' .. " + number + " .. ' and ' .. KEYS[#KEYS]";
        for (String source : List.of(text, "return " + number, joined)) {
          requireSame(
              source,
              0,
              () -> eval(real, source, List.of("a"), List.of()),
              () -> Lua.of(source).run(model, List.of("a"), List.of()));
        }
      }
    }
  }

  private void compare(SplittableRandom random, String seed, RawRedis real, List<Script> scripts) {
    long base = micros(real);
    KeySpace model = model(real);
    String id = identity(real);
    List<String> done = new ArrayList<>();
    for (int step = 0; step < 150; step++) {
      int kind = random.nextInt(PLAIN + 3 * scripts.size());
      if (kind >= PLAIN) {
        Script script = scripts.get((kind - PLAIN) / 3);
        boolean guarded = isGuarded(script.source());
        boolean empty = random.nextInt(12) == 0 && script.source().contains("#KEYS > 1");
        List<String> keys = new ArrayList<>();
        List<String> arguments = new ArrayList<>();
        if (!empty) {
          keys.addAll(List.of(one(random, KEYS), one(random, COUNTERS)));
          arguments.addAll(arguments(random, script, base));
        }
        if (guarded) {
          keys.add(GUARD);
          arguments.addAll(guard(random, base));
        }
        done.add(script.sha1() + " " + keys + " " + arguments);
        requireSame(
            seed + ": " + done,
            script.source().contains("'PTTL', KEYS[1])}") ? TIME_OF_TEST : 0,
            () -> eval(real, script.source(), keys, arguments),
            () -> Lua.of(script.source()).run(model, keys, arguments));
      } else {
        String key = one(random, ALL);
        String value = one(random, VALUES);
        String ttl = one(random, TTLS);
        String[] words =
            switch (kind) {
              case 0 -> new String[] {"SET", key, value, "NX", "PX", ttl};
              case 1 -> new String[] {"SET", key, value, "PX", random.nextBoolean() ? ttl : "0"};
              case 2 -> new String[] {"SET", key, value};
              case 3 -> new String[] {"DEL", key};
              case 4 -> new String[] {"PEXPIRE", key, ttl};
              case 5 -> new String[] {"GET", key};
              case 6 -> new String[] {"PEXPIRE", key, "0"};
              case 7 -> new String[] {"HSET", GUARD, "id", random.nextBoolean() ? id : "another"};
              case 8 -> new String[] {"HSET", GUARD, "since", "0", "new", one(random, VALUES)};
              case 9 -> new String[] {"HMGET", key, "id", "field"};
              default -> new String[] {"HSET", key, "field", "value"};
            };
        done.add(String.join(" ", words));
        requireSame(seed + ": " + done, 0, () -> real.call(words), () -> plain(model.call(words)));
      }
    }
    for (String key : ALL) {
      for (String look : List.of("TYPE", "GET", "PTTL")) {
        requireSame(
            seed + ": at the end of " + done,
            look.equals("PTTL") ? TIME_OF_TEST : 0,
            () -> real.call(look, key),
            () -> plain(model.call(look, key)));
      }
    }
    requireSameRecord(seed + ": at the end of " + done, real, model);
  }

  /** Times are alike only, and what was there before the test is far from them. */
  private void requireSameRecord(String when, RawRedis real, KeySpace model) {
    String[] look = RECORD.toArray(String[]::new);
    requireSame(when, TIME_OF_TEST * 1_000, () -> real.call(look), () -> model.call(look));
  }

  /** Returns a model with the clock and the names of a real server. */
  private static KeySpace model(RawRedis real) {
    long base = micros(real);
    long started = System.nanoTime();
    KeySpace model = new KeySpace(() -> base + (System.nanoTime() - started) / 1_000);
    model.identity(info(real, "server", "run_id"), info(real, "replication", "master_replid"));
    return model;
  }

  private static String identity(RawRedis real) {
    return info(real, "replication", "master_replid") + " 0";
  }

  private static String info(RawRedis real, String section, String field) {
    Matcher matcher =
        Pattern.compile("(?m)^" + field + ":(\\w+)")
            .matcher(String.valueOf(real.call("INFO", section)));
    assertThat(matcher.find()).as(field).isTrue();
    return matcher.group(1);
  }

  private static boolean isGuarded(String source) {
    return source.contains("#ARGV - 4");
  }

  private static boolean isTake(Script script) {
    return isGuarded(script.source())
        && script.source().contains("#KEYS > 1 and not redis.call('SET'");
  }

  private static boolean isEnd(Script script) {
    return script.source().contains("local last = redis.call('HMGET', guard, 'begun')");
  }

  /** Now and then of another database, and of clients that do not fit. */
  private static List<String> guard(SplittableRandom random, long base) {
    boolean fits = random.nextInt(8) > 0;
    return List.of(
        random.nextInt(8) > 0 ? "0" : "1",
        "2000 " + (fits ? "3" : one(random, VALUES)) + " ",
        one(random, QUARANTINES),
        Long.toString(base + (random.nextInt(3) - 1) * HOUR));
  }

  /**
   * Returns as many arguments as the script takes. No proposal is so far from the node's clock that
   * the time at which it arrives decides about its reply.
   */
  private static List<String> arguments(SplittableRandom random, Script script, long base) {
    String value = one(random, VALUES);
    String ttl = random.nextInt(5) == 0 ? "0" : one(random, TTLS);
    String proposal = Long.toString(base + (5 + random.nextInt(3)) * SECOND);
    String least =
        random.nextInt(6) == 0
            ? Long.toString(LARGE)
            : Long.toString(base + (random.nextInt(12) - 2) * SECOND);
    if (script.source().contains("local last")) {
      return List.of(value, ttl, proposal, one(random, TTLS));
    }
    return script.source().contains("local fence")
        ? List.of(value, least, one(random, TTLS))
        : List.of(value, ttl);
  }

  private static @Nullable Object eval(
      RawRedis real, String source, List<String> keys, List<String> arguments) {
    List<String> words = new ArrayList<>(List.of("EVAL", source, Integer.toString(keys.size())));
    words.addAll(keys);
    words.addAll(arguments);
    return real.call(words.toArray(String[]::new));
  }

  private static long micros(RawRedis real) {
    List<?> time = (List<?>) Objects.requireNonNull(real.call("TIME"));
    return Long.parseLong(String.valueOf(time.get(0))) * SECOND
        + Long.parseLong(String.valueOf(time.get(1)));
  }

  private interface Call {
    @Nullable Object run();
  }

  /** The same, except for the time that passed if it is a time to live. */
  private void requireSame(String when, long tolerance, Call real, Call model) {
    Object expected;
    try {
      expected = real.run();
    } catch (RedisErrorReply e) {
      expected = e;
    }
    Object actual;
    try {
      actual = model.run();
    } catch (RedisError e) {
      actual = e;
    }
    if (expected instanceof RedisErrorReply error) {
      assertThat(actual).as(when).isInstanceOf(RedisError.class);
      // servers before 7 say in front of it that it happened inside a script
      String text = actual instanceof RedisError e ? e.text() : "";
      String code = text.substring(0, text.indexOf(' '));
      said.add(code);
      assertThat(error.getMessage()).as(when).contains(code);
      requireSameError(when, code, String.valueOf(error.getMessage()), text);
    } else {
      requireSame(when, tolerance, expected, actual);
    }
  }

  private static void requireSame(
      String when, long tolerance, @Nullable Object expected, @Nullable Object actual) {
    if (expected instanceof List<?> one && actual instanceof List<?> other) {
      assertThat(other).as(when).hasSameSizeAs(one);
      for (int i = 0; i < one.size(); i++) {
        requireSame(when, tolerance, one.get(i), other.get(i));
      }
    } else if (expected instanceof Long number && number > 0 && tolerance > 0) {
      assertThat((Long) actual).as(when).isBetween(number - tolerance, number + tolerance);
    } else if (expected instanceof String text && text.matches("\\d{12,17}") && tolerance > 0) {
      long number = Long.parseLong(text);
      assertThat(Long.valueOf(String.valueOf(actual)))
          .as(when)
          .isBetween(number - tolerance, number + tolerance);
    } else {
      assertThat(actual).as(when).isEqualTo(expected);
    }
  }

  /**
   * Compares the errors that the core's own scripts make. Age and rest of a quarantine are times.
   */
  private static void requireSameError(String when, String code, String real, String model) {
    if (code.equals("GUARDED")) {
      assertThat(real).as(when).contains(model);
    } else if (code.equals("QUARANTINE")) {
      List<String> expected = List.of(real.substring(real.indexOf(code)).split(" ", -1));
      List<String> actual = List.of(model.split(" ", -1));
      assertThat(actual).as(when).hasSameSizeAs(expected).hasSize(7);
      assertThat(actual.get(5)).as(when).isEqualTo(expected.get(5));
      for (int word : List.of(1, 2, 3, 4, 6)) { // fencing tokens and beginnings are in microseconds
        boolean micros = expected.get(word).length() > 13;
        long time = Long.parseLong(expected.get(word));
        long tolerance = micros ? TIME_OF_TEST * 1_000 : TIME_OF_TEST;
        assertThat(Long.parseLong(actual.get(word)))
            .as(when)
            .isBetween(time - tolerance, time + tolerance);
      }
    }
  }

  private static @Nullable Object plain(@Nullable Object reply) {
    return reply instanceof Lua.Status status ? status.text() : reply;
  }

  private static String one(SplittableRandom random, List<String> of) {
    return of.get(random.nextInt(of.size()));
  }

  /** The core keeps them to itself. A new one must not be forgotten here. */
  private static List<Script> scriptsOfTheCore() throws ReflectiveOperationException {
    List<Script> scripts = new ArrayList<>();
    for (Field field :
        Class.forName("dev.holdfast.redlock.internal.vote.Scripts").getDeclaredFields()) {
      field.setAccessible(true);
      if (field.getType() == Script.class) {
        scripts.add((Script) field.get(null));
      } else if (field.getType().isRecord()) {
        for (RecordComponent component : field.getType().getRecordComponents()) {
          Method accessor = component.getAccessor();
          accessor.setAccessible(true);
          scripts.add((Script) accessor.invoke(field.get(null)));
        }
      }
    }
    return scripts;
  }
}
