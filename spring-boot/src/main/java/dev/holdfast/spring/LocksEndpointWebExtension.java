package dev.holdfast.spring;

import dev.holdfast.spring.LocksReport.OneLock;
import dev.holdfast.spring.LocksReport.Release;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/** The statuses of {@link LocksEndpoint} on the web: 404 without such a manager, 503 in outages. */
@EndpointWebExtension(endpoint = LocksEndpoint.class)
final class LocksEndpointWebExtension {
  private final LocksEndpoint endpoint;

  LocksEndpointWebExtension(LocksEndpoint endpoint) {
    this.endpoint = endpoint;
  }

  @ReadOperation
  WebEndpointResponse<OneLock> lock(
      @Selector(match = Match.ALL_REMAINING) String[] name, @Nullable String manager) {
    OneLock lock = endpoint.lock(name, manager);
    return response(lock, lock != null && lock.hasFailed());
  }

  @DeleteOperation
  WebEndpointResponse<Release> release(
      @Selector(match = Match.ALL_REMAINING) String[] name, @Nullable String manager) {
    Release release = endpoint.release(name, manager);
    return response(release, release != null && release.failure() != null);
  }

  private static <T> WebEndpointResponse<T> response(@Nullable T body, boolean hasFailed) {
    if (body == null) {
      return new WebEndpointResponse<>(WebEndpointResponse.STATUS_NOT_FOUND);
    }
    int status =
        hasFailed ? WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE : WebEndpointResponse.STATUS_OK;
    return new WebEndpointResponse<>(body, status);
  }
}
