package dev.holdfast.benchmarks;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;

/** The floor: Lettuce, all servers in parallel, every reply waited for, and nothing more. */
final class RawLettuce implements RawLock {
  private final RedisClient client = RedisClient.create();
  private final List<RedisAsyncCommands<String, String>> nodes;
  private final SetArgs onlyIfFree = SetArgs.Builder.nx().px(Terms.TTL.toMillis());
  private final String release;

  RawLettuce(List<String> uris) {
    nodes =
        uris.stream()
            .map(uri -> client.connect(RedisURI.create(uri)))
            .map(StatefulRedisConnection::async)
            .toList();
    release =
        nodes.stream()
            .map(node -> node.scriptLoad(RawCommands.RELEASE).toCompletableFuture().join())
            .toList()
            .get(0);
  }

  @Override
  public int servers() {
    return nodes.size();
  }

  @Override
  public int set(String name, String token) throws ExecutionException, InterruptedException {
    int granted = 0;
    for (RedisFuture<String> reply : onAll(node -> node.set(name, token, onlyIfFree))) {
      granted += reply.get() == null ? 0 : 1;
    }
    return granted;
  }

  @Override
  public void release(String name, String token) throws ExecutionException, InterruptedException {
    for (RedisFuture<Long> reply : onAll(node -> releaseOn(node, name, token))) {
      reply.get();
    }
  }

  @Override
  public CompletableFuture<Boolean> lockedAsync(String name) {
    String token = RawCommands.token();
    return all(onAll(node -> node.set(name, token, onlyIfFree)))
        .thenCompose(granted -> all(onAll(node -> releaseOn(node, name, token))))
        .thenApply(released -> true);
  }

  private RedisFuture<Long> releaseOn(
      RedisAsyncCommands<String, String> node, String name, String token) {
    return node.evalsha(release, ScriptOutputType.INTEGER, new String[] {name}, token);
  }

  private <T> List<RedisFuture<T>> onAll(
      Function<RedisAsyncCommands<String, String>, RedisFuture<T>> command) {
    List<RedisFuture<T>> replies = new ArrayList<>(nodes.size());
    for (RedisAsyncCommands<String, String> node : nodes) {
      replies.add(command.apply(node));
    }
    return replies;
  }

  private static <T> CompletableFuture<Void> all(List<RedisFuture<T>> replies) {
    return CompletableFuture.allOf(
        replies.stream()
            .map(CompletionStage::toCompletableFuture)
            .toArray(CompletableFuture[]::new));
  }

  @Override
  public void close() {
    client.shutdown();
  }
}
