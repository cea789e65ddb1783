package dev.holdfast.spring.test;

import dev.holdfast.spring.Locked;
import java.io.IOException;
import org.springframework.boot.test.context.filter.annotation.StandardAnnotationCustomizableTypeExcludeFilter;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.filter.AbstractTypeHierarchyTraversingFilter;

/**
 * The components of a {@link LockTest}, which have or inherit methods with {@link Locked}. They
 * inherit them from superclasses and from interfaces.
 */
final class LockTypeExcludeFilter
    extends StandardAnnotationCustomizableTypeExcludeFilter<LockTest> {
  private static final HasLocks HAS_LOCKS = new HasLocks();

  LockTypeExcludeFilter(Class<?> testClass) {
    super(testClass);
  }

  @Override
  protected boolean defaultInclude(MetadataReader reader, MetadataReaderFactory readers)
      throws IOException {
    return super.defaultInclude(reader, readers) || HAS_LOCKS.match(reader, readers);
  }

  /** Matches a class if it, a superclass or an interface declares such a method. */
  private static final class HasLocks extends AbstractTypeHierarchyTraversingFilter {
    HasLocks() {
      super(true, true);
    }

    @Override
    protected boolean matchSelf(MetadataReader reader) {
      return reader.getAnnotationMetadata().hasAnnotatedMethods(Locked.class.getName());
    }
  }
}
