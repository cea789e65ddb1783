package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.absent.SmallShop;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Applications without libraries that Holdfast uses only if they are there. */
@Tag("slow")
class AbsentLibrariesTest {
  /** Libraries of development, which look for files of the application. */
  private static final List<String> OF_DEVELOPMENT =
      List.of("spring-boot-devtools", "spring-boot-docker-compose");

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({"reactor", "org.reactivestreams", "com.fasterxml.jackson.annotation"})
  void locksWorkIfTheClassesAreHidden(String absent) {
    new ApplicationContextRunner()
        .withUserConfiguration(SmallShop.class)
        .withPropertyValues(
            "holdfast.url=memory:", "management.endpoints.web.exposure.include=locks")
        .withClassLoader(new FilteredClassLoader(absent))
        .run(
            context -> {
              assertThat(context).hasNotFailed().hasSingleBean(LocksEndpoint.class);
              assertThat(context.getBean(SmallShop.Shipping.class).ship(7)).isEqualTo("order-7");
            });
  }

  /** The class path has no library that needs the absent one. */
  @ParameterizedTest
  @CsvSource({
    "reactor.core.publisher.Mono, reactor lettuce r2dbc",
    "org.reactivestreams.Publisher, reactive-streams reactor lettuce r2dbc",
    "com.fasterxml.jackson.annotation.JsonInclude, jackson testcontainers docker-java"
  })
  void locksWorkOnAClassPathWithoutTheLibrary(String type, String absent) throws Exception {
    List<String> lines =
        new SpringJvm(folder)
            .without(OF_DEVELOPMENT)
            .without(List.of(absent.split(" ")))
            .run(SmallShop.class, List.of(type, "--holdfast.url=memory:"));

    assertThat(lines).contains("absent: " + type, "name: order-7", "leases: 0", "endpoint: true");
  }
}
