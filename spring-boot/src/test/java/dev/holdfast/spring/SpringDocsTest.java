package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockListener;
import dev.holdfast.LockManager;
import dev.holdfast.testnodes.TestNode;
import dev.holdfast.testnodes.TestNodes;
import dev.holdfast.testsupport.CompiledSource;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/** The Java and YAML for Spring in the README and in docs, as it stands there. */
class SpringDocsTest {
  private static final Path ROOT = Path.of("..");
  private static final String IMPORTS =
      """
      import dev.holdfast.*;
      import dev.holdfast.spring.*;
      import org.springframework.boot.test.context.*;
      import org.springframework.context.annotation.*;
      import org.springframework.scheduling.annotation.Scheduled;
      import org.springframework.stereotype.*;
      import org.springframework.transaction.annotation.*;
      """;

  /** Declares what the methods and statements in docs use. */
  private static final String AROUND_METHODS =
      """
      import static dev.holdfast.spring.Locked.WhenHeld.SKIP;
      import org.springframework.jdbc.core.JdbcTemplate;
      import org.springframework.transaction.support.TransactionTemplate;
      import reactor.core.publisher.Mono;

      abstract class Around {
        interface Order {
          Order shipped();
        }

        LockManager locks;
        LockRequest request;
        TransactionTemplate transactionTemplate;
        JdbcTemplate jdbc;

        abstract Mono<Order> load(long id);
        abstract Mono<Order> store(Order order, long token);
        abstract Order ship(long id);

        %s
      }
      """;

  @TempDir private Path folder;

  @EnableTransactionManagement(proxyTargetClass = true)
  static class Transactions {}

  private static List<String> blocks(String file, String language) throws IOException {
    return Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL)
        .matcher(Files.readString(ROOT.resolve(file)))
        .results()
        .map(found -> found.group(1))
        .toList();
  }

  private static MutablePropertySources yaml(String text) throws IOException {
    MutablePropertySources sources = new MutablePropertySources();
    for (PropertySource<?> source :
        new YamlPropertySourceLoader()
            .load("yaml", new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8)))) {
      sources.addLast(source);
    }
    return sources;
  }

  @Test
  void theExampleOfTheReadmeLocksAroundItsTransaction() throws Exception {
    String source = onlyOne(blocks("README.md", "java"), "@Locked");
    String settings = onlyOne(blocks("README.md", "yaml"), "holdfast.url");
    assertThat(Files.readString(ROOT.resolve("README.md")))
        .contains("<artifactId>holdfast-spring-boot-starter</artifactId>");
    RecordingTransactionManager transactions =
        new RecordingTransactionManager(PostgresServer.dataSource(), () -> {});
    List<String> released = new ArrayList<>();
    try (TestNodes servers = TestNodes.start(3);
        URLClassLoader loader = compiled("Orders", source)) {
      for (TestNode node : servers.all()) {
        String uri = "redis://h" + (node.index() + 1);
        assertThat(settings).contains(uri);
        settings = settings.replace(uri, node.uri());
      }
      MutablePropertySources sources = yaml(settings);
      Class<?> orders = loader.loadClass("Orders");
      Contexts.of(HoldfastAutoConfiguration.class)
          .withInitializer(
              context -> sources.forEach(context.getEnvironment().getPropertySources()::addLast))
          .withPropertyValues("holdfast.options.newNodes=trust")
          .withBean(RecordingTransactionManager.class, () -> transactions)
          .withUserConfiguration(Transactions.class, orders)
          .withClassLoader(loader)
          .run(
              context -> {
                context
                    .getBean(LockManager.class)
                    .addListener(
                        new LockListener() {
                          @Override
                          public void onReleased(
                              String name, long leaseId, long heldNanos, boolean confirmed) {
                            released.add(name + " after " + transactions.events());
                          }
                        });
                Object bean = context.getBean(orders);
                var ship = bean.getClass().getDeclaredMethod("ship", long.class);
                ship.setAccessible(true);
                ship.invoke(bean, 4711L);
              });
    }
    assertThat(released).containsExactly("order-4711 after [begin, commit]");
  }

  @Test
  void theExampleForContainersCompiles() throws Exception {
    String source = onlyOne(blocks("docs/spring.md", "java"), "HoldfastContainers");
    try (URLClassLoader loader = compiled("LockServers", source)) {
      assertThat(loader.loadClass("LockServers").getDeclaredMethods()).hasSize(1);
    }
  }

  @Test
  void theMethodsInDocsCompile() throws Exception {
    List<String> methods =
        blocks("docs/spring.md", "java").stream()
            .filter(block -> !Pattern.compile("^class ", Pattern.MULTILINE).matcher(block).find())
            .map(
                block ->
                    block.startsWith("locks.")
                        ? "void call(long id) throws Exception {" + block + "}"
                        : block)
            .map(block -> block.replace("…", ""))
            .toList();
    assertThat(methods).hasSize(6);
    String classes =
        IntStream.range(0, methods.size())
            .mapToObj(i -> "class Example" + i + " {" + methods.get(i) + "}")
            .collect(Collectors.joining());
    compiled("Around", AROUND_METHODS.formatted(classes)).close();
  }

  @Test
  void allKeysInYamlExist() throws Exception {
    List<String> all = new ArrayList<>(blocks("docs/spring.md", "yaml"));
    all.addAll(blocks("README.md", "yaml"));
    assertThat(all).hasSizeGreaterThanOrEqualTo(5);
    for (String text : all) {
      HoldfastProperties bound =
          new Binder(ConfigurationPropertySources.from(yaml(text)))
              .bind(
                  "holdfast",
                  Bindable.of(HoldfastProperties.class),
                  new NoUnboundElementsBindHandler(BindHandler.DEFAULT))
              .get();
      assertThat(bound.nodes().isEmpty() && bound.url() == null).as(text).isFalse();
    }
  }

  private static String onlyOne(List<String> blocks, String part) {
    List<String> found = blocks.stream().filter(block -> block.contains(part)).toList();
    assertThat(found).as("blocks with %s", part).hasSize(1);
    return found.get(0);
  }

  private URLClassLoader compiled(String name, String source) throws IOException {
    CompiledSource.compile(folder, name, IMPORTS + source);
    return new URLClassLoader(new URL[] {folder.toUri().toURL()}, getClass().getClassLoader());
  }
}
