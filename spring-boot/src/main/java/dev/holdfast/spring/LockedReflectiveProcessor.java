package dev.holdfast.spring;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.annotation.ReflectiveProcessor;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * The reflection of a method with {@link Locked} in a native image: the method itself, and if its
 * name is a template, the members of its parameters that expressions can use.
 */
final class LockedReflectiveProcessor implements ReflectiveProcessor {
  private final BindingReflectionHintsRegistrar properties = new BindingReflectionHintsRegistrar();

  @Override
  public void registerReflectionHints(ReflectionHints hints, AnnotatedElement element) {
    if (!(element instanceof Method method)) {
      return; // an annotation with @Locked, which no call invokes
    }
    hints.registerMethod(method, ExecutableMode.INVOKE);
    Locked locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
    if (locked == null || !locked.name().contains("#{")) {
      return;
    }
    properties.registerReflectionHints(hints, method.getGenericParameterTypes());
    for (Class<?> type : method.getParameterTypes()) {
      if (!type.isPrimitive()) {
        hints.registerType(
            type, MemberCategory.INVOKE_PUBLIC_METHODS, MemberCategory.ACCESS_PUBLIC_FIELDS);
      }
    }
  }
}
