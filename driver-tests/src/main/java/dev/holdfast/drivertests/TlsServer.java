package dev.holdfast.drivertests;

import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * A redis-server that speaks TLS too, with a certificate for localhost, and for no other name, by
 * an authority that nobody trusts. Made with the JDK's keytool.
 */
public final class TlsServer implements AutoCloseable {
  private static final char[] PASSWORD = "changeit".toCharArray();

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
   * @param folder for its keys; what is in it is not deleted
   */
  public static TlsServer start(Path folder) throws Exception {
    keytool(folder, "-genkeypair -alias ca -dname CN=authority -ext bc:c -keyalg EC");
    keytool(folder, "-genkeypair -alias server -dname CN=localhost -keyalg EC");
    keytool(folder, "-certreq -alias server -file request.pem");
    keytool(
        folder,
        "-gencert -alias ca -ext san=dns:localhost -rfc -infile request.pem -outfile server.pem");
    keytool(folder, "-exportcert -alias ca -rfc -file ca.pem");
    writeKey(folder);
    writeTrustStore(folder);
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
    keys.deleteEntry("server");
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

  private static void keytool(Path folder, String arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(arguments.split(" ")));
    command.addAll(
        List.of("-keystore", "keys.p12", "-storetype", "PKCS12", "-storepass", "changeit"));
    Process keytool =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("keytool.log").toFile())
            .start();
    if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IllegalStateException(Files.readString(folder.resolve("keytool.log")));
    }
  }

  private static void writeKey(Path folder) throws Exception {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(folder.resolve("keys.p12"))) {
      keys.load(in, PASSWORD);
    }
    String key =
        Base64.getMimeEncoder().encodeToString(keys.getKey("server", PASSWORD).getEncoded());
    Files.writeString(
        folder.resolve("server.key"),
        "-----BEGIN PRIVATE KEY-----\n" + key + "\n-----END PRIVATE KEY-----\n");
  }

  private static void writeTrustStore(Path folder) throws Exception {
    KeyStore trusted = KeyStore.getInstance("JKS"); // can be read without its password
    trusted.load(null, null);
    try (InputStream in = Files.newInputStream(folder.resolve("ca.pem"))) {
      Certificate authority = CertificateFactory.getInstance("X.509").generateCertificate(in);
      trusted.setCertificateEntry("authority", authority);
    }
    try (OutputStream out = Files.newOutputStream(folder.resolve("trusted.jks"))) {
      trusted.store(out, PASSWORD);
    }
  }

  private static int freePort() throws Exception {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
