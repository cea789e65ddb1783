package dev.holdfast.discovery;

/** The sources of the test jars. */
final class Sources {
  private Sources() {}

  /** Serves {@code tiny:} and {@code redlock:}, and shows with {@code unwrap} who it is. */
  static String provider(String packageName, String type, String name) {
    return """
        package %1$s;

        import dev.holdfast.LockManager;
        import dev.holdfast.spi.LockProvider;
        import dev.holdfast.spi.LockUrl;
        import java.lang.reflect.Proxy;
        import java.util.Optional;

        public class %2$s implements LockProvider {
          public String name() {
            return "%3$s";
          }

          public boolean accepts(LockUrl url) {
            return url.scheme().equals("tiny")
                || url.scheme().equals("redlock") && url.driver().orElse(name()).equals(name());
          }

          public LockManager open(LockUrl url) {
            return (LockManager)
                Proxy.newProxyInstance(
                    %2$s.class.getClassLoader(),
                    new Class<?>[] {LockManager.class},
                    (proxy, method, args) ->
                        method.getName().equals("unwrap")
                            ? Optional.of("opened by " + getClass().getName())
                            : null);
          }
        }
        """
        .formatted(packageName, type, name);
  }

  /** Opens a URL on a thread of the kind that is asked for, and prints what came of it. */
  static final String APPLICATION =
      """
      package app;

      import dev.holdfast.LockConfigurationException;
      import dev.holdfast.LockManager;
      import java.net.URL;
      import java.net.URLClassLoader;
      import java.util.concurrent.CountDownLatch;
      import java.util.concurrent.ForkJoinPool;

      public class Main {
        public static void main(String[] args) throws Exception {
          String url = args[1];
          switch (args[0]) {
            case "main" -> open(url);
            case "child-loader" -> {
              Thread.currentThread()
                  .setContextClassLoader(
                      new URLClassLoader(new URL[0], Main.class.getClassLoader()));
              open(url);
            }
            case "pool" -> inCommonPool(() -> open(url));
            case "without-loader" ->
                inCommonPool(
                    () -> {
                      Thread.currentThread().setContextClassLoader(null);
                      open(url);
                    });
            default -> throw new IllegalArgumentException(args[0]);
          }
        }

        private static void inCommonPool(Runnable work) throws Exception {
          CountDownLatch done = new CountDownLatch(1);
          ForkJoinPool.commonPool()
              .execute(
                  () -> {
                    try {
                      work.run();
                    } finally {
                      done.countDown();
                    }
                  });
          done.await();
        }

        private static void open(String url) {
          ClassLoader context = Thread.currentThread().getContextClassLoader();
          System.out.println("thread " + Thread.currentThread().getName());
          System.out.println(
              "context loader " + (context == null ? "none" : context.getClass().getSimpleName()));
          System.out.println("own loader " + Main.class.getClassLoader().getClass().getSimpleName());
          try (LockManager manager = LockManager.open(url)) {
            System.out.println(manager.unwrap(String.class).orElse("opened by nobody"));
          } catch (LockConfigurationException e) {
            System.out.println(e.getMessage());
          }
        }
      }
      """;
}
