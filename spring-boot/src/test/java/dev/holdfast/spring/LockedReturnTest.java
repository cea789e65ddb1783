package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class LockedReturnTest {
  interface Later {
    Future<String> future();

    Callable<String> callable();

    Stream<String> stream();

    Flow.Publisher<String> flow();

    Publisher<String> publisher();

    DeferredResult<String> deferred();

    WebAsyncTask<String> task();

    SseEmitter events();

    StreamingResponseBody body();

    ResponseEntity<StreamingResponseBody> responseWithBody();

    ResponseEntity<CompletableFuture<String>> responseWithFuture();

    ResponseEntity<Flux<String>> responseWithFlux();

    Mono<ResponseEntity<Flux<String>>> monoOfResponse();

    CompletableFuture<Callable<String>> futureOfCallable();

    Task named();
  }

  interface Task extends Callable<String> {}

  interface AtReturn {
    void nothing();

    int number();

    Optional<String> optional();

    List<String> list();

    ResponseEntity<String> response();

    @SuppressWarnings("rawtypes")
    ResponseEntity raw();
  }

  static Stream<Method> later() {
    return Stream.of(Later.class.getMethods());
  }

  static Stream<Method> atReturn() {
    return Stream.of(AtReturn.class.getMethods());
  }

  @ParameterizedTest
  @MethodSource("later")
  void aResultWhoseWorkBeginsOrEndsAfterTheCallIsRefused(Method method) {
    assertThatThrownBy(() -> LockedReturn.of(method, false, getClass().getClassLoader()))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessageContaining("the end of the work is not known; return a CompletableFuture");
  }

  @ParameterizedTest
  @MethodSource("atReturn")
  void theWorkOfAPlainResultEndsWithTheCall(Method method) {
    assertThat(LockedReturn.of(method, false, getClass().getClassLoader()).kind())
        .isEqualTo(LockedReturn.Kind.VALUE);
  }
}
