package dev.holdfast.testnodes;

import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Collectors;

/** The file in the folder of detached nodes by which another process finds them again. */
record NodesFile(ServerBinary binary, List<Integer> ports) {
  private static final String NAME = "nodes.properties";

  /** Reads the file of a directory. Returns empty if the directory holds no detached nodes. */
  static Optional<NodesFile> read(Path directory) {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(directory.resolve(NAME))) {
      properties.load(reader);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw unusable(directory, e);
    }
    try {
      ServerBinary binary =
          new ServerBinary(
              Path.of(property(properties, "binary")), property(properties, "version"));
      List<Integer> ports =
          Arrays.stream(property(properties, "ports").split(",")).map(Integer::valueOf).toList();
      return Optional.of(new NodesFile(binary, ports));
    } catch (IllegalArgumentException e) {
      throw unusable(directory, e);
    }
  }

  void write(Path directory) {
    try {
      Path next = Files.writeString(directory.resolve(NAME + ".next"), text());
      Files.move(
          next,
          directory.resolve(NAME),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw unusable(directory, e);
    }
  }

  static void delete(Path directory) throws IOException {
    Files.deleteIfExists(directory.resolve(NAME));
  }

  private String text() throws IOException {
    Properties properties = new Properties();
    properties.setProperty("binary", binary.path().toString());
    properties.setProperty("version", binary.version());
    properties.setProperty(
        "ports", ports.stream().map(String::valueOf).collect(Collectors.joining(",")));
    StringWriter text = new StringWriter();
    properties.store(text, "Redis nodes started by Holdfast");
    return text.toString();
  }

  private static String property(Properties properties, String key) {
    String value = properties.getProperty(key);
    if (value == null) {
      throw new IllegalArgumentException("no " + key);
    }
    return value;
  }

  private static NodeException unusable(Path directory, Exception cause) {
    return new NodeException(
        "Cannot use "
            + directory.resolve(NAME)
            + " ("
            + cause
            + "). If it is damaged, stop the redis-servers by hand and delete the folder.",
        cause);
  }
}
