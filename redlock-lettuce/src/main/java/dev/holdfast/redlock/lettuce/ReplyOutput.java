package dev.holdfast.redlock.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.CommandOutput;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Builds of a reply's parts what {@link dev.holdfast.redlock.spi.Round#reply} takes. Lettuce's own
 * outputs tell nil from an empty array no more, or not at every depth.
 */
final class ReplyOutput extends CommandOutput<String, String, Object> {
  /** The only status that Lettuce does not pass on, assumed if an output receives nothing. */
  private static final String QUEUED = "QUEUED";

  /** The bytes of most replies to {@code SET}. Each would else be four objects more. */
  private static final ByteBuffer OK = UTF_8.encode("OK").asReadOnlyBuffer();

  /** The arrays that are not complete yet, the innermost first. Few replies have any. */
  private @Nullable Deque<List<@Nullable Object>> open;

  ReplyOutput() {
    super(StringCodec.UTF8, QUEUED);
  }

  @Override
  public void set(long integer) {
    add(integer);
  }

  @Override
  public void set(@Nullable ByteBuffer bytes) {
    if (OK.equals(bytes)) {
      add("OK");
    } else {
      add(bytes == null ? null : text(bytes));
    }
  }

  /** Decodes an array, which is several times as fast as to decode a buffer. */
  private static String text(ByteBuffer bytes) {
    byte[] array = new byte[bytes.remaining()];
    bytes.get(array);
    return new String(array, UTF_8);
  }

  @Override
  public void multi(int count) {
    if (count < 0) {
      add(null);
      return;
    }
    List<@Nullable Object> array = new ArrayList<>(count);
    add(array);
    if (open == null) {
      open = new ArrayDeque<>(2);
    }
    open.push(array);
  }

  /** Closes the arrays that are not around the part that is complete now. */
  @Override
  public void complete(int depth) {
    while (open != null && open.size() > depth) {
      open.pop();
    }
  }

  private void add(@Nullable Object part) {
    List<@Nullable Object> around = open == null ? null : open.peek();
    if (around == null) {
      output = part;
    } else {
      around.add(part);
    }
  }
}
