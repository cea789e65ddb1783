package dev.holdfast.cli.compare;

import dev.holdfast.cli.process.Stopwatch;
import dev.holdfast.testnodes.TestNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * A network between a master and its replica that can be slow: what the master sends is held back,
 * as if it were still on its way.
 */
final class SlowLink implements AutoCloseable {
  private static final int BUFFER = 16 * 1024;
  private static final long SYNC_LIMIT_SECONDS = 30;
  private static final long POLL_MILLIS = 20;

  private final TestNode master;
  private final ServerSocket server;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean held;

  private SlowLink(TestNode master, ServerSocket server) {
    this.master = master;
    this.server = server;
  }

  static SlowLink to(TestNode master) throws IOException {
    SlowLink link = new SlowLink(master, new ServerSocket(0, 0, InetAddress.getLoopbackAddress()));
    daemon(link::accept);
    return link;
  }

  /** Makes a node the master's replica, and returns when it is in step. */
  void replicateTo(TestNode replica) throws InterruptedException {
    master.command("CONFIG", "SET", "repl-diskless-sync-delay", "0");
    replica.command(
        "REPLICAOF",
        server.getInetAddress().getHostAddress(),
        Integer.toString(server.getLocalPort()));
    Stopwatch begun = Stopwatch.started();
    while (!String.valueOf(replica.command("INFO", "replication"))
        .contains("master_link_status:up")) {
      if (begun.elapsed().toSeconds() > SYNC_LIMIT_SECONDS) {
        throw Comparison.notMeasured(replica + " does not get in step with " + master);
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  /** From now on nothing more of the master's arrives. */
  void hold() {
    held = true;
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket replica = server.accept();
        sockets.add(replica);
        Socket target = new Socket(master.host(), master.port());
        sockets.add(target);
        daemon(() -> pass(replica, target, false));
        daemon(() -> pass(target, replica, true));
      }
    } catch (IOException e) {
      // It was closed, or the master is gone.
    }
  }

  private void pass(Socket from, Socket to, boolean canBeHeld) {
    byte[] buffer = new byte[BUFFER];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (!canBeHeld || !held) {
          out.write(buffer, 0, read);
        }
      }
    } catch (IOException e) {
      // One side has gone, and so does the other.
    }
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "holdfast-compare-link");
    thread.setDaemon(true);
    thread.start();
  }
}
