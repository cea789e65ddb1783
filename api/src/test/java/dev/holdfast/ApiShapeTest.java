package dev.holdfast;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.LockProvider;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ApiShapeTest {
  /** Annotations that are not there at run time are not missed: they are the only exception. */
  @Test
  void theApiNeedsJavaBaseAlone() {
    StringWriter out = new StringWriter();
    PrintWriter print = new PrintWriter(out);

    int exit =
        ToolProvider.findFirst("jdeps")
            .orElseThrow()
            .run(print, print, "-verbose:package", "--ignore-missing-deps", classes().toString());

    assertThat(exit).as(out.toString()).isZero();
    assertThat(out.toString().lines().filter(line -> line.startsWith("   dev.holdfast")))
        .hasSizeGreaterThan(10)
        .allMatch(
            line ->
                line.endsWith(" java.base")
                    || line.endsWith(" dev.holdfast.api")
                    || line.contains("-> org.jspecify.annotations "));
  }

  @Test
  void theModuleNeedsNothingAtRunTimeAndExportsTwoPackages() throws Exception {
    try (InputStream in = Files.newInputStream(classes().resolve("module-info.class"))) {
      ModuleDescriptor module = ModuleDescriptor.read(in);

      assertThat(module.requires())
          .filteredOn(r -> !r.modifiers().contains(Requires.Modifier.STATIC))
          .extracting(Requires::name)
          .containsExactly("java.base");
      assertThat(module.exports())
          .extracting(ModuleDescriptor.Exports::source)
          .containsExactlyInAnyOrder("dev.holdfast", "dev.holdfast.spi");
      assertThat(module.uses()).containsExactly(LockProvider.class.getName());
    }
  }

  @Test
  void thereAreFewPublicTypes() throws Exception {
    List<Class<?>> types =
        Stream.concat(typesIn("dev.holdfast"), typesIn("dev.holdfast.spi")).toList();

    assertThat(types).contains(LockManager.class, Lease.class, LockProvider.class);
    assertThat(types)
        // LockedAction, ManagerBuilder, OpenSettings, LockListener, LockNode, HeldLock,
        // LeaseDelivery, LockManagerDecorator, LeaseDecorator
        .hasSizeLessThanOrEqualTo(16 + 9);
  }

  @Test
  void staticCheckersSeeThatARequestMustBeUsed() throws Exception {
    String classFile =
        Files.readString(
            classes().resolve("dev/holdfast/LockRequest.class"), StandardCharsets.ISO_8859_1);

    assertThat(classFile)
        .contains("RuntimeInvisibleAnnotations", "Ldev/holdfast/CheckReturnValue;");
  }

  private static Stream<Class<?>> typesIn(String packageName) throws Exception {
    try (Stream<Path> files = Files.list(classes().resolve(packageName.replace('.', '/')))) {
      return files
          .map(file -> requireNonNull(file.getFileName()).toString())
          .filter(name -> name.endsWith(".class") && !name.equals("package-info.class"))
          .<Class<?>>map(name -> load(packageName + "." + name.replace(".class", "")))
          .filter(type -> Modifier.isPublic(type.getModifiers()) && !type.isMemberClass())
          .toList()
          .stream();
    }
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name);
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }

  private static Path classes() {
    try {
      return Path.of(LockManager.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (java.net.URISyntaxException e) {
      throw new AssertionError(e);
    }
  }
}
