package dev.holdfast.benchmarks;

import dev.holdfast.testnodes.TestNodes;
import io.lettuce.core.RedisClient;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.ServiceLoader;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.redisson.Redisson;
import redis.clients.jedis.Connection;

/**
 * The machine of a measurement, without names.
 *
 * @param processors that this process may use
 * @param memoryMegabytes of the heap at most
 * @param java the JVM's version
 * @param load how busy the machine was at the start: its load average, or negative if that is
 *     unknown
 * @param versions of servers and drivers
 */
public record Machine(
    int processors, long memoryMegabytes, String java, double load, Map<String, String> versions) {
  private static final long MEGABYTE = 1_048_576;

  /** Reads the properties of this machine and the versions of the servers and libraries. */
  static Machine found() {
    Map<String, String> versions = new LinkedHashMap<>();
    try (TestNodes nodes = TestNodes.start(1)) {
      versions.put("server", nodes.node(0).version());
    }
    versions.put("Lettuce", version(RedisClient.class));
    versions.put("Jedis", version(Connection.class));
    versions.put("Redisson", version(Redisson.class));
    ServiceLoader.load(Roster.class).forEach(roster -> versions.putAll(roster.versions()));
    return new Machine(
        Runtime.getRuntime().availableProcessors(),
        Runtime.getRuntime().maxMemory() / MEGABYTE,
        System.getProperty("java.vm.name") + " " + Runtime.version(),
        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
        versions);
  }

  /**
   * Returns the version in the jar of a class.
   *
   * @param type any class of the jar
   * @return a question mark if it says nothing
   */
  public static String version(Class<?> type) {
    try (JarFile jar = new JarFile(Path.of(location(type)).toFile())) {
      Properties said = new Properties();
      for (JarEntry entry : jar.stream().filter(Machine::isOfMaven).toList()) {
        said.load(jar.getInputStream(entry));
      }
      Manifest manifest = Objects.requireNonNullElseGet(jar.getManifest(), Manifest::new);
      manifest.getMainAttributes().forEach((key, value) -> said.put(key.toString(), value));
      return Stream.of("Implementation-Version", "Bundle-Version", "version")
          .flatMap(key -> Stream.ofNullable(said.getProperty(key)))
          .map(version -> version.replaceFirst("/.*", ""))
          .findFirst()
          .orElse("?");
    } catch (IOException | URISyntaxException e) {
      return "?";
    }
  }

  private static boolean isOfMaven(JarEntry entry) {
    return entry.getName().startsWith("META-INF/maven/")
        && entry.getName().endsWith("/pom.properties");
  }

  private static URI location(Class<?> type) throws URISyntaxException {
    return type.getProtectionDomain().getCodeSource().getLocation().toURI();
  }
}
