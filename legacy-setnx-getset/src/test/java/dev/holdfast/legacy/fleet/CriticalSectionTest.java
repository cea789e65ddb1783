package dev.holdfast.legacy.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CriticalSectionTest {
  private static final long PASSED = System.currentTimeMillis() - 1;
  private static final long LATER = System.currentTimeMillis() + 600_000;

  @TempDir private Path folder;
  private CriticalSection a;
  private CriticalSection b;

  @BeforeEach
  void join() {
    a = new CriticalSection(folder, "a");
    b = new CriticalSection(folder, "b");
  }

  @Test
  void oneAfterTheOtherIsRight() throws IOException {
    a.enter(LATER);
    a.leave();
    b.enter(LATER);
    b.leave();

    assertThat(a.violations()).isEmpty();
  }

  @Test
  void twoAtOnceAreAViolation() throws IOException {
    a.enter(LATER);
    b.enter(LATER);

    assertThat(a.violations()).singleElement().asString().contains("b met", " a since ");
  }

  @Test
  void stalledContenderWhoseLeaseEndedDoesNotEnter() throws IOException {
    a.enter(LATER);
    b.enter(PASSED);
    b.leave();
    a.leave();

    assertThat(a.violations()).isEmpty();
  }

  @Test
  void placeOfADeadProcessIsFreeOnceItsLeaseEnds() throws Exception {
    long soon = System.currentTimeMillis() + 500;
    a.enter(soon);
    await().until(() -> System.currentTimeMillis() > soon);
    b.enter(LATER);
    a.enter(LATER);

    assertThat(a.violations()).singleElement().asString().contains("a met", " b since ");
  }
}
