package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.aot.AotShop;
import dev.holdfast.memory.MemoryProvider;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.ReflectionHintsPredicates;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.boot.SpringApplicationAotProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.AbstractAotProcessor.Settings;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.core.env.MapPropertySource;
import org.springframework.javapoet.ClassName;

/** Applications after ahead-of-time processing, on a JVM. Native images are not tried. */
@Tag("slow")
class AheadOfTimeTest {
  private static final ReflectionHintsPredicates REFLECTION = RuntimeHintsPredicates.reflection();

  @TempDir private Path folder;

  @Test
  @Timeout(value = 5, unit = TimeUnit.MINUTES) // it compiles, and starts a JVM
  void aProcessedApplicationTakesItsLocks() throws Exception {
    Path sources = folder.resolve("sources");
    Path classes = Files.createDirectories(folder.resolve("classes"));
    Settings settings =
        Settings.builder()
            .sourceOutput(sources)
            .resourceOutput(folder.resolve("resources"))
            .classOutput(classes)
            .groupId("com.example")
            .artifactId("shop")
            .build();
    String[] known = {
      "--holdfast.url=memory:",
      "--holdfast.managers.second.url=memory:",
      "--management.endpoints.web.exposure.include=locks"
    };

    new SpringApplicationAotProcessor(AotShop.class, settings, known).process();
    compile(sources, classes);
    List<String> lines =
        run(
            classes,
            Stream.concat(Stream.of(known), Stream.of("--holdfast.managers.late.url=memory:"))
                .toArray(String[]::new));

    assertThat(lines)
        .contains(
            "processed: true",
            "name: order-ada-7",
            "leases: 0",
            "granted: 1",
            "managers: [lockManager, second]",
            "endpoint: true");
  }

  private static void compile(Path sources, Path classes) throws IOException {
    JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    try (StandardJavaFileManager files =
            javac.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        Stream<Path> found = Files.walk(sources)) {
      List<Path> all = found.filter(path -> path.toString().endsWith(".java")).toList();
      List<String> options =
          List.of(
              "-proc:none",
              "-d",
              classes.toString(),
              "-cp",
              classes + File.pathSeparator + System.getProperty("java.class.path"));
      boolean isCompiled =
          javac
              .getTask(messages, files, null, options, null, files.getJavaFileObjectsFromPaths(all))
              .call();
      assertThat(isCompiled).as(messages.toString()).isTrue();
    }
  }

  /** Runs the application in a JVM of its own, with a placeholder that was not known before. */
  private List<String> run(Path classes, String[] known) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(known));
    arguments.add("--shop.prefix=order");
    return new SpringJvm(folder)
        .withOptions("-Dspring.aot.enabled=true", "-Dspring.devtools.restart.enabled=false")
        .withClassPath(classes, folder.resolve("resources"))
        .run(AotShop.class, arguments);
  }

  @Test
  void methodsTheirArgumentsAndBackendsHaveHints() {
    RuntimeHints hints = new RuntimeHints();
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      context.register(AotShop.class);
      context
          .getEnvironment()
          .getPropertySources()
          .addFirst(new MapPropertySource("test", Map.of("holdfast.url", "memory:")));
      DefaultGenerationContext generation =
          new DefaultGenerationContext(
              new ClassNameGenerator(ClassName.get(AotShop.class)),
              new InMemoryGeneratedFiles(),
              hints);
      new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
    }

    String shipping = AotShop.class.getName() + "$Shipping";
    assertThat(hints)
        .matches(invocation(shipping, "ship"))
        .matches(REFLECTION.onMethodInvocation(AotShop.Order.class, "customer"))
        .matches(REFLECTION.onMethodInvocation(AotShop.Order.class, "id"))
        .matches(REFLECTION.onMethodInvocation(AotShop.Customer.class, "name"))
        .matches(REFLECTION.onConstructorInvocation(MemoryProvider.class.getConstructors()[0]))
        .matches(
            RuntimeHintsPredicates.resource()
                .forResource("META-INF/services/dev.holdfast.spi.LockProvider"));
  }

  private static Predicate<RuntimeHints> invocation(String type, String method) {
    try {
      return REFLECTION.onMethodInvocation(type, method);
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }
}
