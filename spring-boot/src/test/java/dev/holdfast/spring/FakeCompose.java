package dev.holdfast.spring;

import dev.holdfast.testnodes.TestNode;
import java.lang.reflect.Constructor;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.docker.compose.core.ConnectionPorts;
import org.springframework.boot.docker.compose.core.ImageReference;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.lifecycle.DockerComposeServicesReadyEvent;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A fake service of docker compose, which needs no Docker engine and leads to a server that runs.
 */
record FakeCompose(String name, String imageName, TestNode node, Map<String, String> labels)
    implements RunningService {
  private static final String LISTENER =
      "org.springframework.boot.docker.compose.service.connection"
          + ".DockerComposeServiceConnectionsApplicationListener";

  FakeCompose(String name, String imageName, TestNode node) {
    this(name, imageName, node, Map.of());
  }

  /** Reports services to Boot's own listener, as Boot does when compose is up. */
  static ApplicationContextInitializer<ConfigurableApplicationContext> ready(
      FakeCompose... services) {
    return context -> {
      try {
        Constructor<DockerComposeServicesReadyEvent> event =
            DockerComposeServicesReadyEvent.class.getDeclaredConstructor(
                ApplicationContext.class, List.class);
        event.setAccessible(true);
        Constructor<?> listener = Class.forName(LISTENER).getDeclaredConstructor();
        listener.setAccessible(true);
        @SuppressWarnings("unchecked")
        var boots = (ApplicationListener<DockerComposeServicesReadyEvent>) listener.newInstance();
        boots.onApplicationEvent(event.newInstance(context, List.of(services)));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("Boot's listener is not as it was", e);
      }
    };
  }

  @Override
  public ImageReference image() {
    return ImageReference.of(imageName);
  }

  @Override
  public String host() {
    return node.host();
  }

  @Override
  public ConnectionPorts ports() {
    return new ConnectionPorts() {
      @Override
      public int get(int containerPort) {
        if (containerPort != 6379) {
          throw new IllegalArgumentException("port " + containerPort + " is not mapped");
        }
        return node.port();
      }

      @Override
      public List<Integer> getAll() {
        return List.of(node.port());
      }

      @Override
      public List<Integer> getAll(@Nullable String protocol) {
        return getAll();
      }
    };
  }

  @Override
  public Map<String, String> env() {
    return Map.of();
  }
}
