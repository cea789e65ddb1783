package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import dev.holdfast.LockManager;
import java.util.Map;
import org.springframework.beans.factory.config.RuntimeBeanReference;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Registers a bean for each of {@code holdfast.managers}, by its name, and another one for its end.
 */
final class ManagersRegistrar implements ImportBeanDefinitionRegistrar {
  /** The key of the managers. */
  static final String KEY = "holdfast.managers";

  /** The name of the bean of {@code holdfast.url}. */
  static final String DEFAULT = "lockManager";

  /**
   * The name of the bean of {@code holdfast.url} if a bean of another type is named {@link
   * #DEFAULT}.
   */
  static final String SECOND_DEFAULT = "holdfastLockManager";

  /** The name of the bean of the type {@link ManagerFactory}. */
  static final String FACTORY = "holdfastManagerFactory";

  private final Environment environment;

  /** Makes the registrar, for Spring. */
  ManagersRegistrar(Environment environment) {
    this.environment = environment;
  }

  @Override
  public void registerBeanDefinitions(
      AnnotationMetadata importing, BeanDefinitionRegistry registry) {
    if (!EnabledKey.isTrue(environment)) {
      return;
    }
    Bindable<Map<String, ManagerProperties>> managers =
        Bindable.mapOf(String.class, ManagerProperties.class);
    Binder.get(environment)
        .bind(KEY, managers)
        .orElse(Map.of())
        .keySet()
        .forEach(name -> register(name, registry));
  }

  private static void register(String name, BeanDefinitionRegistry registry) {
    if (registry.isBeanNameInUse(name)) {
      throw new LockConfigurationException(
          KEY + "." + name + " has the name of another bean; choose a name that no bean has");
    }
    RootBeanDefinition manager = made("openNamed", LockManager.class);
    manager.getConstructorArgumentValues().addIndexedArgumentValue(0, name);
    manager.setDestroyMethodName("close");
    registry.registerBeanDefinition(name, manager);

    RootBeanDefinition lifecycle = made("lifecycle", ManagerLifecycle.class);
    lifecycle.getConstructorArgumentValues().addIndexedArgumentValue(0, name);
    lifecycle
        .getConstructorArgumentValues()
        .addIndexedArgumentValue(1, new RuntimeBeanReference(name));
    registry.registerBeanDefinition(name + "HoldfastLifecycle", lifecycle);
  }

  private static RootBeanDefinition made(String method, Class<?> type) {
    RootBeanDefinition definition = new RootBeanDefinition();
    definition.setTargetType(type);
    definition.setFactoryBeanName(FACTORY);
    definition.setFactoryMethodName(method);
    return definition;
  }
}
