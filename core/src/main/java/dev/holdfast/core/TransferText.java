package dev.holdfast.core;

import dev.holdfast.LockConfigurationException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.CRC32;

/**
 * The text by which another process adopts a transferred lock. It is a secret, because it contains
 * the token. A checksum detects damage. It does not prevent forgery, which needs the token anyway.
 *
 * @param scope see {@link LockPrimitive#transferScope}
 * @param name the name of the lock
 * @param token the token of the transferred lease
 */
record TransferText(String scope, String name, String token) {
  /** The version is part of the prefix. */
  private static final String PREFIX = "holdfast1-";

  private static final String ANY_VERSION = "holdfast";

  /** More than the longest name, label and scope take. */
  private static final int MAX_LENGTH = 8 * 1024;

  private static final int CHECKSUM_BYTES = Integer.BYTES;

  /** Returns the text: characters that need no quoting in URLs, headers, JSON and shells. */
  String encoded() {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      out.writeUTF(scope);
      out.writeUTF(name);
      out.writeUTF(token);
      out.writeInt(checksum(bytes.toByteArray()));
      return encoded(bytes.toByteArray());
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /**
   * Reads a text. No message contains any part of it.
   *
   * @throws LockConfigurationException if it is damaged, or no such text
   */
  static TransferText of(String text) {
    if (!text.startsWith(PREFIX)) {
      throw new LockConfigurationException(
          text.startsWith(ANY_VERSION)
              ? "the transfer text was written by another version of Holdfast: use the same version"
                  + " on both sides"
              : "this is no transfer text: pass what Lease.transfer returned, unchanged");
    }
    byte[] bytes = bytes(text);
    byte[] content = Arrays.copyOf(bytes, bytes.length - CHECKSUM_BYTES);
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      TransferText read = new TransferText(in.readUTF(), in.readUTF(), in.readUTF());
      if (in.readInt() != checksum(content) || in.available() > 0) {
        throw damaged();
      }
      return read;
    } catch (IOException e) {
      throw damaged();
    }
  }

  private static byte[] bytes(String text) {
    if (text.length() > MAX_LENGTH) {
      throw damaged();
    }
    byte[] bytes;
    try {
      bytes = Base64.getUrlDecoder().decode(text.substring(PREFIX.length()));
    } catch (IllegalArgumentException e) { // its message shows a part of the text
      throw damaged();
    }
    // the decoder ignores padding, and the bits that the last character has too many
    if (bytes.length < CHECKSUM_BYTES || !encoded(bytes).equals(text)) {
      throw damaged();
    }
    return bytes;
  }

  private static String encoded(byte[] bytes) {
    return PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static LockConfigurationException damaged() {
    return new LockConfigurationException(
        "the transfer text is damaged: pass what Lease.transfer returned, unchanged and complete");
  }

  private static int checksum(byte[] content) {
    CRC32 checksum = new CRC32();
    checksum.update(content);
    return (int) checksum.getValue();
  }

  /**
   * Requires that a manager can adopt the lock for a request.
   *
   * @param ownScope of the adopting manager
   * @throws LockConfigurationException if the lock is another one, or is on other nodes
   */
  void requireFor(String ownScope, String requestedName) {
    if (!name.equals(requestedName)) {
      throw new LockConfigurationException(
          "the transfer text is of the lock '"
              + name
              + "', but the request asks for '"
              + requestedName
              + "': give the same name");
    }
    if (!scope.equals(ownScope)) {
      throw new LockConfigurationException(
          "'"
              + name
              + "' was transferred by a manager of other nodes ("
              + scope
              + ") and cannot be adopted here ("
              + ownScope
              + "): give both managers the same nodes and keyPrefix");
    }
  }

  @Override
  public String toString() {
    return "TransferText[" + name + "]";
  }
}
