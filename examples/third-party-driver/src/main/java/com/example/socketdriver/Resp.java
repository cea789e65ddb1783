package com.example.socketdriver;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Replies in the protocol of Redis, version 2. */
final class Resp {
  private Resp() {}

  /** An error reply. */
  record ErrorReply(String text) {}

  /** A Long, a String, null, a List of these, or an {@link ErrorReply}. */
  static Object read(InputStream in) throws IOException {
    String line = line(in);
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case '+' -> rest;
      case '-' -> new ErrorReply(rest);
      case ':' -> Long.valueOf(rest);
      case '$' -> bulk(in, Integer.parseInt(rest));
      case '*' -> array(in, Integer.parseInt(rest));
      default -> throw new IOException("no Redis server listens there");
    };
  }

  private static String bulk(InputStream in, int length) throws IOException {
    if (length < 0) {
      return null;
    }
    byte[] bytes = in.readNBytes(length + 2);
    if (bytes.length < length + 2) {
      throw new EOFException("the server ended the connection");
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  private static List<Object> array(InputStream in, int length) throws IOException {
    if (length < 0) {
      return null;
    }
    List<Object> array = new ArrayList<>(length);
    for (int i = 0; i < length; i++) {
      array.add(read(in));
    }
    return array;
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new EOFException("the server ended the connection");
      }
      bytes.write(b);
    }
    String line = bytes.toString(StandardCharsets.UTF_8).stripTrailing();
    if (line.isEmpty()) {
      throw new IOException("no Redis server listens there");
    }
    return line;
  }
}
