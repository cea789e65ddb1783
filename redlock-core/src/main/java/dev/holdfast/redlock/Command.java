package dev.holdfast.redlock;

import java.util.ArrayList;
import java.util.List;

/**
 * What a round asks of its nodes. A driver that writes to the socket sends {@link #encoded()}; one
 * that can send any command, {@link #words()}; one that has methods of its own for each goes by the
 * type.
 */
public sealed interface Command {
  /**
   * The command as it goes over the wire, in UTF-8.
   *
   * @return the command's name, then its arguments
   */
  List<String> words();

  /**
   * The command as bytes, in RESP: an array of bulk strings. Made anew by each call; all nodes of a
   * round can share it.
   *
   * @return what is to be written to the socket
   */
  default byte[] encoded() {
    return Resp.encoded(words());
  }

  /**
   * {@code SET key value NX PX ttl}: replies {@code OK}, or nil if the key is there.
   *
   * @param key the key
   * @param value its new value
   * @param ttlMillis how long it lives, in milliseconds
   */
  record SetIfAbsent(String key, String value, long ttlMillis) implements Command {
    @Override
    public List<String> words() {
      return List.of("SET", key, value, "NX", "PX", Long.toString(ttlMillis));
    }
  }

  /**
   * A script, by its digest ({@code EVALSHA}) or with its source ({@code EVAL}). Drivers do not
   * fall back from one to the other: that is done above them.
   *
   * @param script the script
   * @param withSource whether to send the source
   * @param keys all keys that the script touches
   * @param arguments the other arguments
   */
  record Eval(Script script, boolean withSource, List<String> keys, List<String> arguments)
      implements Command {
    @Override
    public List<String> words() {
      List<String> words = new ArrayList<>(3 + keys.size() + arguments.size());
      words.add(withSource ? "EVAL" : "EVALSHA");
      words.add(withSource ? script.source() : script.sha1());
      words.add(Integer.toString(keys.size()));
      words.addAll(keys);
      words.addAll(arguments);
      return words;
    }
  }

  /** {@code INFO}: replies with the server's default sections as one string. */
  record Info() implements Command {
    @Override
    public List<String> words() {
      return List.of("INFO");
    }
  }

  /**
   * Any other command.
   *
   * @param words the command's name, then its arguments
   */
  record Plain(List<String> words) implements Command {
    /** Copies the words. */
    public Plain {
      words = List.copyOf(words);
    }
  }
}
