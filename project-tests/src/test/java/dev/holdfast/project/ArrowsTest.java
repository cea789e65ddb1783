package dev.holdfast.project;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The arrows between modules, which point one way. Those inside of {@code cli} are tested there.
 */
class ArrowsTest {
  private static final JavaClasses CLASSES = imported();

  /**
   * A module and what it may know in addition to Java and itself.
   *
   * @param own its packages
   * @param below modules of ours
   * @param libraries packages of others
   */
  private record Module(List<String> own, List<Module> below, List<String> libraries) {
    static Module of(String... own) {
      return new Module(List.of(own), List.of(), List.of());
    }

    Module over(Module... modules) {
      return new Module(own, List.of(modules), libraries);
    }

    Module with(String... packages) {
      return new Module(own, below, List.of(packages));
    }

    DescribedPredicate<JavaClass> known() {
      return resideInAnyPackage("java..", "javax.net..", "org.jspecify..")
          .or(in(own.stream()))
          .or(in(libraries.stream()))
          .or(
              in(below.stream().flatMap(module -> module.own.stream()))
                  .and(not(resideInAPackage("..internal.."))));
    }
  }

  private static final Module API =
      Module.of("dev.holdfast", "dev.holdfast.spi", "dev.holdfast.internal..");
  private static final Module CORE = Module.of("dev.holdfast.core..").over(API).with("jdk.jfr..");
  private static final Module MEMORY = Module.of("dev.holdfast.memory..").over(API, CORE);
  private static final Module JUNIT =
      Module.of("dev.holdfast.junit..").over(API, MEMORY).with("org.junit.jupiter.api..");
  private static final Module REACTOR =
      Module.of("dev.holdfast.reactor..")
          .over(API)
          .with("reactor.core..", "reactor.blockhound..", "org.reactivestreams..");
  private static final Module MICROMETER =
      Module.of("dev.holdfast.micrometer..").over(API).with("io.micrometer..");
  private static final Module SPRING =
      Module.of("dev.holdfast.spring")
          .over(API, MICROMETER, REACTOR)
          .with(
              "org.springframework..",
              "org.aopalliance..",
              "org.testcontainers..",
              "io.micrometer..",
              "com.fasterxml.jackson.annotation..",
              "reactor..",
              "org.reactivestreams..");
  private static final Module SPRING_TEST =
      Module.of("dev.holdfast.spring.test..")
          .over(API, MEMORY, SPRING)
          .with("org.springframework..", "org.junit.jupiter.api..");
  private static final Module REDIS_URI = Module.of("dev.holdfast.redis..").over(API);
  private static final Module REDLOCK_CORE =
      Module.of(
              "dev.holdfast.redlock", "dev.holdfast.redlock.spi", "dev.holdfast.redlock.internal..")
          .over(API, CORE, REDIS_URI);
  private static final Module LETTUCE =
      Module.of("dev.holdfast.redlock.lettuce..")
          .over(API, CORE, REDIS_URI, REDLOCK_CORE)
          .with("io.lettuce..", "io.netty..");
  private static final Module JEDIS =
      Module.of("dev.holdfast.redlock.jedis..")
          .over(API, CORE, REDIS_URI, REDLOCK_CORE)
          .with("redis.clients..", "org.apache.commons.pool2..");
  private static final Module REDISSON =
      Module.of("dev.holdfast.redlock.redisson..")
          .over(API, CORE, REDIS_URI, REDLOCK_CORE)
          .with("org.redisson..", "io.netty..");
  private static final Module LEGACY =
      Module.of("dev.holdfast.legacy..").over(API, CORE, REDIS_URI).with("redis.clients..");
  private static final Module TCK =
      Module.of("dev.holdfast.tck", "dev.holdfast.tck.rules..", "dev.holdfast.tck.env..")
          .over(API)
          .with("org.junit..", "org.opentest4j..", "org.assertj..");
  private static final Module TEST_NODES =
      Module.of("dev.holdfast.testnodes..")
          .with(
              "redis.embedded..",
              "org.testcontainers..",
              "com.github.dockerjava..",
              "org.apache.commons.compress..");
  private static final Module TCK_REDIS =
      Module.of("dev.holdfast.tck.redis..").over(API, REDIS_URI, TCK, TEST_NODES);

  static Stream<Module> modules() {
    return Stream.of(
        API,
        CORE,
        MEMORY,
        JUNIT,
        REACTOR,
        MICROMETER,
        SPRING,
        SPRING_TEST,
        REDIS_URI,
        REDLOCK_CORE,
        LETTUCE,
        JEDIS,
        REDISSON,
        LEGACY,
        TCK,
        TEST_NODES,
        TCK_REDIS);
  }

  @ParameterizedTest
  @MethodSource("modules")
  void aModuleKnowsThoseBelowItAndNothingInternalToThem(Module module) {
    classes()
        .that(in(module.own.stream()))
        .should()
        .onlyDependOnClassesThat(module.known())
        .check(CLASSES);
  }

  @Test
  void aPackageInsideRedlockCoreKnowsOnlyThoseBelowIt() {
    List<String> packages =
        Stream.of("vote", "nodes", "round", "guard", "noscript", "notify", "lock")
            .map(name -> "dev.holdfast.redlock.internal." + name)
            .toList();
    for (int i = 0; i < packages.size() - 1; i++) {
      noClasses()
          .that(in(Stream.of(packages.get(i))))
          .should()
          .dependOnClassesThat(in(packages.subList(i + 1, packages.size()).stream()))
          .check(CLASSES);
    }
  }

  @Test
  void noPackageIsForgotten() {
    Stream<String> known = modules().flatMap(module -> module.own.stream());
    // The helpers that tests of several modules share.
    Stream<String> ofTests = Stream.of("dev.holdfast.testsupport..", "dev.holdfast.drivertests..");

    classes()
        .should()
        .resideInAnyPackage(Stream.concat(known, ofTests).toArray(String[]::new))
        .check(CLASSES);
  }

  private static JavaClasses imported() {
    // Arrows go by names of packages: classes of other libraries need not be read for them.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    return new ClassFileImporter()
        .withImportOption(new ImportOption.DoNotIncludeTests())
        .withImportOption(location -> !location.contains("-tests.jar"))
        .importPackages("dev.holdfast");
  }

  private static DescribedPredicate<JavaClass> in(Stream<String> packages) {
    return resideInAnyPackage(packages.toArray(String[]::new));
  }
}
