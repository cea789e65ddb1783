package dev.holdfast.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * One file to which all processes append, and in which the order of lines is the order of events:
 * each line is one write, and the system puts writes that append one after the other. A process
 * that is stopped or killed cannot keep others from writing.
 */
final class Journal implements AutoCloseable {
  private final FileChannel file;

  private Journal(FileChannel file) {
    this.file = file;
  }

  static Journal at(Path path) {
    try {
      return new Journal(FileChannel.open(path, APPEND, CREATE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void append(Entry entry) {
    ByteBuffer line = UTF_8.encode(entry.line() + "\n");
    try {
      int written = file.write(line);
      if (line.hasRemaining()) {
        throw new IOException("only " + written + " bytes of a line were written");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads a journal from its beginning, and on from where it was each time. */
  static final class Reader implements AutoCloseable {
    private static final int AT_ONCE = 64 * 1024;

    private final FileChannel file;
    private ByteBuffer buffer = ByteBuffer.allocate(AT_ONCE);
    private long position;

    Reader(Path path) {
      try {
        file = FileChannel.open(path, READ);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Passes on each complete line that is new. */
    void read(Consumer<String> lines) {
      try {
        while (file.read(buffer, position + buffer.position()) > 0) {
          int end = lastEnd();
          if (end > 0) {
            UTF_8
                .decode(buffer.duplicate().position(0).limit(end))
                .toString()
                .lines()
                .forEach(lines);
          }
          buffer.limit(buffer.position()).position(end);
          buffer.compact();
          position += end;
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private int lastEnd() {
      int end = buffer.position();
      while (end > 0 && buffer.get(end - 1) != '\n') {
        end--;
      }
      return end;
    }

    @Override
    public void close() {
      try {
        file.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
