package dev.holdfast.testnodes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Answers on files, asked for again only after a file was written, replaced or given other rights.
 * A file that is written twice within a tick of the kernel (milliseconds), with the same size, is
 * not noticed. Safe for use by several threads, which may ask twice.
 */
final class PerFile<T> {
  /** The time of the last change, unlike that of the last write, is set by the kernel alone. */
  private static final String STATE = "unix:dev,ino,ctime,size";

  private final Map<Path, Answer<T>> answers = new ConcurrentHashMap<>();

  private record Answer<T>(Map<String, Object> state, T value) {}

  /** Asks for an answer that can fail. */
  interface Question<T> {
    T ask() throws IOException;
  }

  T get(Path file, Question<T> question) throws IOException {
    Map<String, Object> state = Files.readAttributes(file, STATE);
    Answer<T> known = answers.get(file);
    if (known == null || !known.state().equals(state)) {
      known = new Answer<>(state, question.ask());
      answers.put(file, known);
    }
    return known.value();
  }
}
