package dev.holdfast.redlock.spi;

import java.util.ArrayList;
import java.util.List;

/**
 * A command of a round. A driver that writes to the socket sends {@link #encoded()}. A driver that
 * can send any command sends {@link #words()}. A driver that has a method for each command goes by
 * the type.
 */
public sealed interface Command {
  /**
   * Returns the command as sent over the wire, in UTF-8.
   *
   * @return the command's name, then its arguments
   */
  List<String> words();

  /**
   * Encodes the command in RESP, as an array of bulk strings. Each call encodes again. All nodes of
   * a round can share the result.
   *
   * @return the bytes to write to the socket
   */
  default byte[] encoded() {
    return Resp.encoded(words());
  }

  /**
   * The command {@code SET key value NX PX ttl}. It replies {@code OK}, or nil if the key is there.
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
   * A script, sent by its digest ({@code EVALSHA}) or with its source ({@code EVAL}). Drivers do
   * not fall back from one to the other, which the layers above do.
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

  /** The command {@code INFO}. It replies with the server's default sections as one string. */
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
