package dev.holdfast.tck.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Lease;
import dev.holdfast.LockCapability;
import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockManager;
import dev.holdfast.LockRequest;
import dev.holdfast.ManagerBuilder;
import dev.holdfast.spi.LockUrl;
import dev.holdfast.tck.Rule;
import dev.holdfast.tck.env.TckFault;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The rules about finding a backend by its URL. The tests of the API itself, which finds the
 * backends, cover more cases of class paths.
 */
public abstract class DiscoveryRules {
  final TckFixture fixture;

  public DiscoveryRules(TckFixture fixture) {
    this.fixture = fixture;
  }

  @Test
  @Rule("DISC-1")
  @IfThisFails("check META-INF/services, and that the URL is one that the provider accepts")
  void theBackendIsFound() {
    assertThat(ByUrl.open(fixture).capabilities()).isEqualTo(fixture.capabilities());
  }

  @Test
  @Rule("DISC-1")
  @IfThisFails("check whether the provider loads classes or resources by the thread's class loader")
  void theBackendIsFoundFromAThreadWithoutAClassLoader() {
    assertThat(openWith(null).capabilities()).isEqualTo(fixture.capabilities());
  }

  @Test
  @Rule("DISC-1")
  @IfThisFails("check whether the provider loads classes or resources by the thread's class loader")
  void theBackendIsFoundFromAThreadOfAnotherClassLoader() {
    ClassLoader other = ClassLoader.getPlatformClassLoader();

    assertThat(openWith(other).capabilities()).isEqualTo(fixture.capabilities());
  }

  @Test
  @Rule("DISC-4")
  @IfThisFails("check that the provider calls LockUrl.requireKnownOptions with all that it knows")
  void anUnknownOptionIsAnErrorThatNamesTheNearest() {
    ByUrl.needed(fixture);

    for (List<String> mistake :
        List.of(List.of("retryDelya", "retryDelay"), List.of("maxTLL", "maxTtl"))) {
      Throwable thrown = catchThrowable(() -> ByUrl.open(fixture, mistake.get(0) + "=1s"));

      assertThat(thrown).isInstanceOf(LockConfigurationException.class);
      assertThat(thrown).hasMessageContainingAll(mistake.get(0), mistake.get(1));
    }
  }

  @Test
  @Rule("DISC-5")
  @IfThisFails("check that the provider implements open(url, settings), and passes settings on")
  void theCallbackExecutorOfTheBuilderIsUsed() {
    String url = ByUrl.needed(fixture);
    Queue<String> threads = new ConcurrentLinkedQueue<>();
    LockManager locks = new UserThread(fixture).open(LockManager.builder(url));

    // Held at first, because a callback of a future that is complete runs on this thread.
    Lease held = fixture.take(locks, fixture.name("called-back"), fixture.ttl());
    locks
        .tryAcquireAsync(fixture.request(held.name()).waitForever())
        .whenComplete((lease, failure) -> threads.add(Thread.currentThread().getName()));
    TckFixture.regardless(held::release);

    fixture.soon().until("the callback is called", () -> !threads.isEmpty());
    assertThat(threads).containsExactly(UserThread.NAME);
  }

  @Test
  @Rule("DISC-5")
  @IfThisFails("check that the provider reads options from the URL that it is given")
  void anOptionOfTheBuilderReplacesThatOfTheUrl() {
    String url = ByUrl.needed(fixture);

    Throwable thrown =
        catchThrowable(() -> LockManager.builder(url).option("maxTtl", "0s").open().close());

    assertThat(thrown).isInstanceOf(LockConfigurationException.class);
    assertThat(thrown).hasMessageContaining("maxTtl");
  }

  @Test
  @Rule("DISC-6")
  @IfThisFails("check that LockPrimitive.backend() returns the scheme of the provider's URLs")
  void theBackendHasTheNameOfItsUrls() {
    String scheme = LockUrl.parse(ByUrl.needed(fixture), Map.of()).scheme();

    for (LockManager locks : List.of(ByUrl.open(fixture), fixture.open())) {
      LockManager below = locks.unwrap(LockManager.class).orElse(locks);
      String ofBelow = below == locks ? scheme : below.backend();
      assertThat(locks.backend()).isIn(scheme, ofBelow);
    }
  }

  private LockManager openWith(@Nullable ClassLoader loader) {
    ByUrl.needed(fixture);
    Call<LockManager> call =
        Call.begin(
            () -> {
              Thread.currentThread().setContextClassLoader(loader);
              return ByUrl.open(fixture);
            });
    call.awaited(fixture);
    return call.result().orElseThrow(() -> new AssertionError("not found: " + call));
  }

  @Test
  @Rule("LOSS-5")
  @IfThisFails("check that each future that is returned completes on the executor of the builder")
  void callbacksOfEachFutureRunOnTheExecutorOfTheBuilder() {
    UserThread executor = new UserThread(fixture);
    LockManager locks = executor.open(ByUrl.builder(fixture));
    Lease held = fixture.take(locks, fixture.name("held"), fixture.ttl());
    Map<String, Supplier<CompletableFuture<?>>> calls = new LinkedHashMap<>();
    calls.put("a grant", () -> locks.tryAcquireAsync(fixture.request(fixture.name("free"))));
    calls.put("a refusal", () -> locks.tryAcquireAsync(fixture.request(held.name())));
    if (fixture.declares(LockCapability.EXTENSION)) {
      calls.put("an extension", () -> held.extendAsync(fixture.ttl()));
    }
    if (fixture.declares(LockCapability.TRANSFER)) {
      Lease moved = fixture.take(locks, fixture.name("moved"), fixture.ttl());
      TransferredLock lock = TransferredLock.of(fixture, "adopted");
      calls.put("a transfer", () -> moved.transferAsync(fixture.ttl()));
      calls.put("an adoption", () -> locks.adoptAsync(lock.text(), fixture.request(lock.name())));
    }
    calls.put("a release", held::releaseAsync);
    if (!fixture.nodes().isEmpty() && fixture.declares(LockCapability.EXTENSION)) {
      Lease removed = OnNodes.take(fixture, locks, fixture.name("removed"), fixture.ttl());
      fixture.nodes().forEach(node -> node.remove(removed.name()));
      calls.put("an extension that fails", () -> removed.extendAsync(fixture.ttl()));
    }
    calls.put(
        "a loss", () -> fixture.take(locks, fixture.name("lost"), fixture.shortTtl()).onLoss());
    if (Faults.areKnown(fixture, TckFault.DEAD)) {
      calls.put("an outage", () -> inAnOutage(locks));
    }

    for (Map.Entry<String, Supplier<CompletableFuture<?>>> call : calls.entrySet()) {
      assertThat(executor.threadOfCallback(call.getValue()))
          .as("the thread of a callback of %s, unless it was complete before", call.getKey())
          .isIn("", UserThread.NAME);
    }
  }

  private CompletableFuture<?> inAnOutage(LockManager locks) {
    Faults.begin(fixture, TckFault.DEAD, fixture.nodes(), "");
    return locks.tryAcquireAsync(fixture.request(fixture.name("gone")));
  }

  @Test
  @Rule("LOSS-8")
  @IfThisFails("check that executeLocked learns of a loss without the executor of callbacks")
  void executeLockedInterruptsItsTaskThoughTheExecutorOfTheBuilderIsBlocked() {
    UserThread executor = new UserThread(fixture);
    LockManager locks = executor.open(ByUrl.builder(fixture));
    executor.hold();
    AtomicBoolean interrupted = new AtomicBoolean();

    Throwable thrown =
        catchThrowable(
            () ->
                locks.executeLocked(
                    LockRequest.of(fixture.name("task"), fixture.shortTtl()),
                    lease -> {
                      interrupted.set(fixture.soon().endsByInterrupt());
                      return "over";
                    }));

    if (thrown != null && !(thrown instanceof LockLostException)) {
      AnotherRule.isBroken("the task was not run: " + thrown);
    }
    assertThat(interrupted).as("the task was interrupted").isTrue();
  }

  /** The one thread of an executor of a user, which a test can hold up. */
  private static final class UserThread {
    static final String NAME = "of the user";

    private final TckFixture fixture;
    private final ExecutorService executor =
        Executors.newSingleThreadExecutor(task -> new Thread(task, NAME));

    UserThread(TckFixture fixture) {
      this.fixture = fixture;
      fixture.atEnd(executor::shutdownNow);
    }

    /** Opens a manager that calls users back on this thread. */
    LockManager open(ManagerBuilder builder) {
      return ByUrl.openUnlessRefused(fixture, builder.callbackExecutor(executor));
    }

    /** Has the thread do nothing until the test lets it go on, or is over. */
    CountDownLatch hold() {
      CountDownLatch end = new CountDownLatch(1);
      executor.execute(
          () -> {
            try {
              end.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
      return end;
    }

    /** Returns the name of the thread, or nothing if the future was complete before. */
    String threadOfCallback(Supplier<CompletableFuture<?>> call) {
      CountDownLatch end = hold();
      CompletableFuture<String> thread = new CompletableFuture<>();
      CompletableFuture<?> future = call.get();
      boolean isEarly = future.isDone();
      future.whenComplete((value, failure) -> thread.complete(Thread.currentThread().getName()));
      end.countDown();
      String name = fixture.soon().get("a callback is called", thread);
      return isEarly || name.equals(Thread.currentThread().getName()) ? "" : name;
    }
  }
}
