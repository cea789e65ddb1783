package dev.holdfast.spring.test;

import dev.holdfast.spring.Locked;
import java.io.IOException;
import org.springframework.boot.test.context.filter.annotation.StandardAnnotationCustomizableTypeExcludeFilter;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/** The components of a {@link LockTest}, which have methods with {@link Locked}. */
final class LockTypeExcludeFilter
    extends StandardAnnotationCustomizableTypeExcludeFilter<LockTest> {
  LockTypeExcludeFilter(Class<?> testClass) {
    super(testClass);
  }

  @Override
  protected boolean defaultInclude(MetadataReader reader, MetadataReaderFactory readers)
      throws IOException {
    return super.defaultInclude(reader, readers)
        || reader.getAnnotationMetadata().hasAnnotatedMethods(Locked.class.getName());
  }
}
