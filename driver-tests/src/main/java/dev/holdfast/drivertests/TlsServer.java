package dev.holdfast.drivertests;

import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.io.InputStream;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * A redis-server that speaks TLS too, with a certificate for localhost, and for no other name, by
 * an unknown authority. The script beside its files makes them.
 */
public final class TlsServer implements AutoCloseable {
  private static final String TRUST_STORE = "javax.net.ssl.trustStore";
  private static final char[] PASSWORD = "changeit".toCharArray();

  private static final List<String> FILES =
      List.of("ca.pem", "server.pem", "server.key", "keys.p12", "trusted.jks");

  private final Path folder;
  private final TestNodes servers;
  private final int port;

  private TlsServer(Path folder, TestNodes servers, int port) {
    this.folder = folder;
    this.servers = servers;
    this.port = port;
  }

  /**
   * Starts it.
   *
   * @param folder for its keys. Other files in it are not deleted
   */
  public static TlsServer start(Path folder) throws Exception {
    for (String file : FILES) {
      try (InputStream in = TlsServer.class.getResourceAsStream("tls/" + file)) {
        Files.copy(Objects.requireNonNull(in, file), folder.resolve(file));
      }
    }
    int port = freePort();
    TestNodes servers =
        TestNodes.builder()
            .count(1)
            .config(
                "tls-port " + port,
                "tls-cert-file " + folder.resolve("server.pem"),
                "tls-key-file " + folder.resolve("server.key"),
                "tls-ca-cert-file " + folder.resolve("ca.pem"),
                "tls-auth-clients no")
            .start();
    return new TlsServer(folder, servers, port);
  }

  /** The server, by its port without TLS. */
  public TestNode node() {
    return servers.node(0);
  }

  /** Returns the port for TLS. */
  public int port() {
    return port;
  }

  /** Holds the authority alone. */
  public Path trustStore() {
    return folder.resolve("trusted.jks");
  }

  /** Makes this JVM trust the authority alone. */
  public void trust() {
    System.setProperty(TRUST_STORE, trustStore().toString());
  }

  /** Makes this JVM trust its default authorities. */
  public static void trustOthersAgain() {
    System.clearProperty(TRUST_STORE);
  }

  /** Creates a user with all rights. */
  public void addUser(String name, String password) {
    node().command("ACL", "SETUSER", name, "on", ">" + password, "~*", "&*", "+@all");
  }

  /** Trusts the authority alone. */
  public TrustManagerFactory trustManagers() throws Exception {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(KeyStore.getInstance(trustStore().toFile(), PASSWORD));
    return factory;
  }

  /** Shows a certificate that the server trusts: that of the authority itself. */
  public KeyManagerFactory keyManagers() throws Exception {
    KeyStore keys = KeyStore.getInstance(folder.resolve("keys.p12").toFile(), PASSWORD);
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(keys, PASSWORD);
    return factory;
  }

  /** Requires a certificate of each client that connects from now on, or no longer. */
  public void requireCertificates(boolean required) {
    node().command("CONFIG", "SET", "tls-auth-clients", required ? "yes" : "no");
  }

  @Override
  public void close() {
    servers.close();
  }

  private static int freePort() throws Exception {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
