package dev.holdfast.testnodes;

/**
 * An error that a server replied. {@link #getMessage()} is its text, for example {@code WRONGTYPE
 * Operation against a key holding the wrong kind of value}.
 */
public final class RedisErrorReply extends RuntimeException {
  private static final long serialVersionUID = 1L;

  RedisErrorReply(String text) {
    super(text);
  }

  /**
   * Returns the first word of the text, which is the kind of error: {@code ERR}, {@code NOAUTH}, …
   */
  public String code() {
    String text = String.valueOf(getMessage());
    int space = text.indexOf(' ');
    return space < 0 ? text : text.substring(0, space);
  }
}
