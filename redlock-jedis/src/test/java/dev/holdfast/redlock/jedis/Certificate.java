package dev.holdfast.redlock.jedis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A certificate for {@code localhost} that signed itself, made with the JDK's keytool.
 *
 * @param certificateFile the certificate, as a redis-server reads it
 * @param keyFile its key, likewise
 * @param trustStore holds this certificate alone, and can be read without a password
 */
record Certificate(Path certificateFile, Path keyFile, Path trustStore) {
  private static final String PASSWORD = "changeit";

  static Certificate forLocalhost(Path folder) throws Exception {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(generate(folder.resolve("server.p12")))) {
      keys.load(in, PASSWORD.toCharArray());
    }
    java.security.cert.Certificate certificate = keys.getCertificate("server");
    byte[] key = keys.getKey("server", PASSWORD.toCharArray()).getEncoded();
    KeyStore trusted = KeyStore.getInstance("JKS");
    trusted.load(null, null);
    trusted.setCertificateEntry("server", certificate);
    Path trustStore = folder.resolve("trusted.jks");
    try (OutputStream out = Files.newOutputStream(trustStore)) {
      trusted.store(out, PASSWORD.toCharArray());
    }
    return new Certificate(
        pem(folder.resolve("server.crt"), "CERTIFICATE", certificate.getEncoded()),
        pem(folder.resolve("server.key"), "PRIVATE KEY", key),
        trustStore);
  }

  private static Path generate(Path file) throws Exception {
    String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    String command =
        "-genkeypair -alias server -keyalg EC -dname CN=localhost -ext san=dns:localhost"
            + " -storetype PKCS12 -storepass "
            + PASSWORD
            + " -keystore";
    ProcessBuilder builder = new ProcessBuilder(keytool);
    builder.command().addAll(List.of(command.split(" ")));
    builder.command().add(file.toString());
    Process process =
        builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
      throw new IllegalStateException("keytool failed");
    }
    return file;
  }

  private static Path pem(Path file, String what, byte[] content) throws Exception {
    String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    String text = "-----BEGIN %1$s-----%n%2$s%n-----END %1$s-----%n".formatted(what, lines);
    return Files.writeString(file, text, US_ASCII);
  }
}
