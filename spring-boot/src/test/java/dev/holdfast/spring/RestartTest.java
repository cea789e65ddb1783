package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.restart.DevtoolsShop;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.Eventually;
import java.net.URL;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.devtools.restart.classloader.RestartClassLoader;

/** The restarts of devtools, which load the classes of the application again. */
@Tag("slow")
class RestartTest {
  private static final String SHOP = "com.example.restart.RestartedShop";

  @Test
  void successiveContextsTakeTheSameLockAndLeaveNoThread() throws Exception {
    URL classes = RestartTest.class.getProtectionDomain().getCodeSource().getLocation();
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    Set<Class<?>> types = new HashSet<>();
    for (int start = 0; start < 2; start++) {
      RestartClassLoader loader =
          new RestartClassLoader(RestartTest.class.getClassLoader(), new URL[] {classes});
      Class<?> type = Class.forName(SHOP, false, loader);
      types.add(type);

      assertThat(runOnItsThread(type, loader)).isEqualTo("order-4711");

      Eventually.soon().untilAsserted(() -> assertThat(leftOver(before, loader)).isEmpty());
    }
    assertThat(types).as("the classes of each start").hasSize(2);
  }

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES) // it starts a JVM
  void devtoolsRestartsAnApplicationThatTakesItsLocksAgain(@TempDir Path folder) throws Exception {
    try (TestNodes nodes = TestNodes.start(1)) {
      List<String> lines =
          new SpringJvm(folder)
              .run(
                  DevtoolsShop.class,
                  List.of(
                      "--holdfast.url=redlock:lettuce:" + nodes.uris().get(0) + "?newNodes=trust",
                      "--spring.devtools.livereload.enabled=false",
                      "--spring.docker.compose.enabled=false"));

      String output = String.join("\n", lines);
      assertThat(lines)
          .as(output)
          .filteredOn(line -> line.equals("started: order-4711, leads: true"))
          .hasSize(3);
      assertThat(lines)
          .as(output)
          .filteredOn(line -> line.equals("restarted: all of these threads have ended"))
          .hasSize(2);
      assertThat(lines)
          .as(output)
          .filteredOn(line -> line.startsWith("threads: "))
          .hasSize(2)
          .allMatch(line -> line.contains("shop-leader") && line.contains("holdfast-"));
      assertThat(nodes.node(0).command("EXISTS", "order-4711", "leader")).isEqualTo(0L);
    }
  }

  private static String runOnItsThread(Class<?> type, ClassLoader loader) throws Exception {
    Callable<?> shop = (Callable<?>) type.getDeclaredConstructor().newInstance();
    FutureTask<Object> run = new FutureTask<>(shop::call);
    Thread thread = new Thread(run, "restartedMain");
    thread.setContextClassLoader(loader);
    thread.start();
    String name = (String) run.get(100, TimeUnit.SECONDS);
    thread.join(TimeUnit.SECONDS.toMillis(15));
    return name;
  }

  /** Returns the threads of a closed context: ours, and those that keep its classes loaded. */
  private static List<Thread> leftOver(Set<Thread> before, ClassLoader loader) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread) && thread.isAlive())
        .filter(
            thread ->
                thread.getName().startsWith("holdfast") || thread.getContextClassLoader() == loader)
        .toList();
  }
}
