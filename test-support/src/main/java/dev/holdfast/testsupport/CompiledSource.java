package dev.holdfast.testsupport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import javax.tools.ToolProvider;

/** Examples of documents, compiled against the class path of the test. */
public final class CompiledSource {
  private CompiledSource() {}

  /**
   * Writes a source into a folder and compiles it there, without annotation processing. The
   * compiler prints its errors.
   *
   * @param folder for the source and the classes
   * @param name of the source's class
   * @param source the whole file
   * @throws AssertionError with the source, if it does not compile
   */
  public static void compile(Path folder, String name, String source) throws IOException {
    Path file = Files.writeString(folder.resolve(name + ".java"), source);
    int errors =
        Objects.requireNonNull(ToolProvider.getSystemJavaCompiler())
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-parameters",
                "-d",
                folder.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                file.toString());
    if (errors != 0) {
      throw new AssertionError("this does not compile:\n" + source);
    }
  }
}
