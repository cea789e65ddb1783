package dev.holdfast.tck.redis;

import dev.holdfast.redis.RedisNodeUri;
import dev.holdfast.tck.env.TckFault;
import dev.holdfast.testnodes.RedisErrorReply;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The settings of a server that faults change by commands, and their former values. */
final class NodeFaultState {
  private static final String MEMORY = "maxmemory";
  private static final String POLICY = "maxmemory-policy";
  private static final int MAX_TRIES = 5;

  /** Spaces, but not those in the parentheses of a selector. */
  private static final Pattern WORD_ENDS = Pattern.compile(" (?![^(]*\\))");

  private static final Pattern DATABASE = Pattern.compile("db\\d+");

  /** Takes all rights but leaves flags alone, which {@code reset} would set for good. */
  private static final List<String> NO_RIGHTS =
      List.of("resetpass", "resetkeys", "resetchannels", "-@all");

  /** The commands that docs/acl.md grants to operators. */
  static final List<String> LEAST_RIGHTS =
      List.of(
          ("+set +get +del +pttl +pexpire +hmget +hset +eval +evalsha +time +ping +info"
                  + " +client|setname +publish +subscribe +unsubscribe +type")
              .split(" "));

  /** The user of connections that do not log in. */
  private static final String ANONYMOUS = "default";

  /** The word by which a server shows the password of {@link #needLogin}. */
  private static final String NEEDS_PASSWORD =
      "#" + RedisTckEnvironment.Builder.sha256(RedisNode.PASSWORD);

  private static final Logger logger = System.getLogger(NodeFaultState.class.getName());

  private final OwnConnection own;
  private final String user;
  private final Map<String, String> config = new TreeMap<>();
  private final List<String> rights = new ArrayList<>();
  private final Set<TckFault> faults = EnumSet.noneOf(TckFault.class);

  /**
   * Starts with a server without faults.
   *
   * @param user the user of the managers, which loses rights
   */
  NodeFaultState(OwnConnection own, String user) {
    this.own = own;
    this.user = user;
    for (String parameter : List.of(MEMORY, POLICY)) {
      mayDo(
          parameter.equals(MEMORY) ? TckFault.REFUSING : TckFault.EVICTING,
          () -> {
            String value = setting(parameter);
            own.call("CONFIG", "SET", parameter, value);
            config.put(parameter, value);
          });
    }
    mayDo(
        TckFault.FORBIDDEN,
        () -> {
          own.call("ACL", "SETUSER", user);
          rights.addAll(rightsNow());
        });
    mayDo(TckFault.SLOW, () -> own.call("CLIENT", "PAUSE", "0"));
    mayDo(TckFault.REPLICA, () -> own.call("REPLICAOF", "NO", "ONE"));
  }

  /** Returns the faults that the server's rights allow. */
  Set<TckFault> faults() {
    return faults;
  }

  /** Tells whether the user has all rights, of which it can keep the least. */
  boolean mayTakeLeastRights() {
    return rights.contains("+@all") && rights.stream().noneMatch(word -> word.startsWith("-"));
  }

  void refuse() {
    own.call("CONFIG", "SET", MEMORY, "1");
  }

  void accept() {
    own.call("CONFIG", "SET", MEMORY, sound(MEMORY));
  }

  void evict() {
    own.call("CONFIG", "SET", POLICY, "allkeys-lru");
  }

  void keep() {
    own.call("CONFIG", "SET", POLICY, sound(POLICY));
  }

  /** Forbids writes. Deletes stay allowed, as on a node that is out of memory. */
  void forbid() {
    own.call("ACL", "SETUSER", user, "-@write", "+del", "+unlink");
  }

  void forbidScripts() {
    own.call("ACL", "SETUSER", user, "-@scripting");
  }

  /** Forbids to subscribe. Existing subscriptions stay. */
  void forbidSubscriptions() {
    own.call("ACL", "SETUSER", user, "-subscribe", "-psubscribe");
  }

  /** Forbids all commands but those that docs/acl.md lists. */
  void leaveLeastRights() {
    List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", user, "-@all"));
    words.addAll(LEAST_RIGHTS);
    own.call(words.toArray(String[]::new));
  }

  /** Requires a login. Connections that are open stay open. */
  void needLogin() {
    own.call("ACL", "SETUSER", ANONYMOUS, "resetpass", ">" + RedisNode.PASSWORD);
  }

  void needNoLogin() {
    own.call("ACL", "SETUSER", ANONYMOUS, "nopass");
  }

  void allow() {
    List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", user));
    words.addAll(NO_RIGHTS);
    if (Stream.concat(rights.stream(), rightsNow().stream()).anyMatch(w -> w.startsWith("("))) {
      words.add("clearselectors"); // unknown to Redis 6, which has no selectors
    }
    words.addAll(rights);
    own.call(words.toArray(String[]::new));
  }

  void follow(RedisNodeUri master) {
    own.call("REPLICAOF", master.host(), Integer.toString(master.port()));
  }

  void lead() {
    own.call("REPLICAOF", "NO", "ONE");
  }

  /** Makes a server that answers as it was, and looks whether it does, and deletes all keys. */
  void restore() {
    Map<String, Runnable> wrong = wrong();
    for (int i = 0; i < MAX_TRIES && !wrong.isEmpty(); i++) {
      wrong.values().forEach(Runnable::run);
      wrong = wrong();
    }
    if (!wrong.isEmpty()) {
      throw new IllegalStateException(own + " cannot be made sound again: it " + wrong.keySet());
    }
    empty();
  }

  /** Deletes all keys, also those of commands that a server which hung had still to read. */
  private void empty() {
    for (int i = 0; i < MAX_TRIES; i++) {
      own.call("FLUSHALL");
      if (isEmpty(own.info("keyspace"))) {
        return;
      }
    }
    throw new IllegalStateException(own + " cannot be made empty");
  }

  static boolean isMaster(Map<String, String> info) {
    return "master".equals(info.get("role"));
  }

  static boolean isEmpty(Map<String, String> info) {
    return info.keySet().stream().noneMatch(NodeFaultState::isDatabase);
  }

  static boolean isDatabase(String field) {
    return DATABASE.matcher(field).matches();
  }

  /**
   * Returns the changed settings, each with its remedy. Asks for no more than these, because it is
   * called after each test.
   */
  private Map<String, Runnable> wrong() {
    Map<String, Runnable> wrong = new LinkedHashMap<>();
    if (faults.contains(TckFault.REPLICA) && !own.texts("ROLE").get(0).equals("master")) {
      wrong.put("is a replica", this::lead);
    }
    if (faults.contains(TckFault.REFUSING) && !setting(MEMORY).equals(sound(MEMORY))) {
      wrong.put("has another maxmemory", this::accept);
    }
    if (faults.contains(TckFault.EVICTING) && !setting(POLICY).equals(sound(POLICY))) {
      wrong.put("has another maxmemory-policy", this::keep);
    }
    if (faults.contains(TckFault.FORBIDDEN)) {
      List<String> users = users();
      if (!rights.equals(rightsOf(user, users))) {
        wrong.put("gives other rights", this::allow);
      }
      if (rightsOf(ANONYMOUS, users).contains(NEEDS_PASSWORD)) {
        wrong.put("needs a login", this::needNoLogin);
      }
    }
    return wrong;
  }

  private String setting(String parameter) {
    return own.texts("CONFIG", "GET", parameter).get(1);
  }

  private String sound(String parameter) {
    return Objects.requireNonNull(config.get(parameter), parameter);
  }

  /** Returns the ACL rules of the user as it is now. */
  private List<String> rightsNow() {
    return rightsOf(user, users());
  }

  private List<String> users() {
    return own.texts("ACL", "LIST");
  }

  private static List<String> rightsOf(String name, List<String> users) {
    return users.stream()
        .filter(line -> line.startsWith("user " + name + " "))
        .flatMap(line -> WORD_ENDS.splitAsStream(line).skip(2))
        .toList();
  }

  private void mayDo(TckFault fault, Runnable harmless) {
    try {
      harmless.run();
      faults.add(fault);
    } catch (RedisErrorReply refused) {
      logger.log(Level.DEBUG, "left out: " + fault, refused);
    }
  }
}
