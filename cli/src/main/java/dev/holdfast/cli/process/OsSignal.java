package dev.holdfast.cli.process;

import java.lang.reflect.Proxy;
import java.util.function.Consumer;

/**
 * The signals that people and supervisors send to end a program.
 *
 * <p>The JDK's own support ({@code sun.misc.Signal} of the module jdk.unsupported) is reached by
 * reflection, because naming it is a compiler warning that cannot be switched off.
 */
public enum OsSignal {
  HUP(1),
  INT(2),
  TERM(15);

  private final int number;

  OsSignal(int number) {
    this.number = number;
  }

  public int number() {
    return number;
  }

  /**
   * Has the handler called, on a thread of the JVM's, instead of the JVM ended. A signal that was
   * ignored when the JVM was started, as by nohup, stays ignored.
   */
  public void handle(Consumer<OsSignal> handler) {
    handle(name(), () -> handler.accept(this));
  }

  /** Goes on at Ctrl-Z, because a process that stands still renews no lock. */
  static void refuseStops() {
    handle(
        "TSTP",
        () -> Message.print("Ctrl-Z stops nothing here: a lock that is not renewed is lost"));
  }

  private static void handle(String name, Runnable handler) {
    try {
      Class<?> signalType = Class.forName("sun.misc.Signal");
      Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
      Object proxy =
          Proxy.newProxyInstance(
              OsSignal.class.getClassLoader(),
              new Class<?>[] {handlerType},
              (self, method, args) -> {
                handler.run();
                return null;
              });
      signalType
          .getMethod("handle", signalType, handlerType)
          .invoke(null, signalType.getConstructor(String.class).newInstance(name), proxy);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this JVM cannot handle signals", e);
    }
  }
}
