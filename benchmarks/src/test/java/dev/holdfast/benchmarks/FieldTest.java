package dev.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.benchmarks.Kind.Family;
import dev.holdfast.benchmarks.Kind.Reach;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class FieldTest {
  private final CountDownLatch over = new CountDownLatch(1);

  @Test
  void aContestantThatDoesNotCloseIsLeftBehind() {
    Kind stubborn =
        new Kind(
            "stubborn",
            "Stubborn",
            Family.PEER,
            Reach.ANY,
            Set.of(),
            Set.of(),
            uris -> new Stubborn());
    Field field = new Field(List.of(stubborn), new Waiters(1, 1), Duration.ofMillis(100));

    try {
      field.leaveOut(field.subjects().get(0), new IllegalStateException("for this test"));

      assertThat(field.subjects()).isEmpty();
      assertThat(field.notes())
          .satisfiesExactly(
              closing -> assertThat(closing).contains("Stubborn is not closed", "Timeout"),
              why -> assertThat(why).contains("Stubborn failed", "for this test"));
    } finally {
      over.countDown();
      field.close();
    }
  }

  private final class Stubborn implements Contestant {
    @Override
    public boolean locked(String name, Runnable work) {
      return false;
    }

    @Override
    public void close() {
      try {
        over.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
