package dev.holdfast.core;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.text.MessageFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The warnings that a class logs meanwhile. By reflection, because System.Logger ends in
 * java.logging here, which the module of these tests does not read.
 */
final class Warnings implements AutoCloseable {
  private final List<String> texts = new CopyOnWriteArrayList<>();
  private final Object logger;
  private final Method setFilter;

  private Warnings(Object logger, Class<?> filter, boolean throwing)
      throws ReflectiveOperationException {
    this.logger = logger;
    this.setFilter = logger.getClass().getMethod("setFilter", filter);
    Object keeping =
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {filter},
            (proxy, method, arguments) -> {
              keep(arguments[0]);
              if (throwing) {
                throw new IllegalStateException("the disk is full");
              }
              return false;
            });
    setFilter.invoke(logger, keeping);
  }

  static Warnings of(Class<?> named) throws ReflectiveOperationException {
    return of(named, false);
  }

  /** The same of a logger whose every call throws, as one that cannot write does. */
  static Warnings throwing(Class<?> named) throws ReflectiveOperationException {
    return of(named, true);
  }

  private static Warnings of(Class<?> named, boolean throwing) throws ReflectiveOperationException {
    Object logger =
        Class.forName("java.util.logging.Logger")
            .getMethod("getLogger", String.class)
            .invoke(null, named.getName());
    return new Warnings(logger, Class.forName("java.util.logging.Filter"), throwing);
  }

  List<String> texts() {
    return texts;
  }

  @Override
  public void close() throws ReflectiveOperationException {
    setFilter.invoke(logger, new Object[] {null});
  }

  private void keep(Object logged) throws ReflectiveOperationException {
    Class<?> type = logged.getClass();
    String pattern = (String) type.getMethod("getMessage").invoke(logged);
    Object[] parameters = (Object[]) type.getMethod("getParameters").invoke(logged);
    texts.add(new MessageFormat(pattern, Locale.ROOT).format(parameters));
  }
}
