package dev.holdfast.cli;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The packages of the command, whose arrows point one way. */
class PackagesTest {
  private static final String ROOT = "dev.holdfast.cli";

  private static final String[] COMMANDS = {
    "run", "locks", "nodes", "tck", "bench", "demo", "compare", "migrate"
  };

  private static final JavaClasses CLASSES = imported();

  @Test
  void dependenciesPointFromMainToCommandsToSharedPackages() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("main")
        .definedBy(ROOT)
        .layer("commands")
        .definedBy(Stream.of(COMMANDS).map(PackagesTest::named).toArray(String[]::new))
        .layer("backend")
        .definedBy(named("backend"))
        .layer("command")
        .definedBy(named("command"))
        .layer("terminal")
        .definedBy(named("terminal"))
        .layer("process")
        .definedBy(named("process"))
        .layer("report")
        .definedBy(named("report"))
        .whereLayer("main")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("commands")
        .mayOnlyBeAccessedByLayers("main")
        .whereLayer("backend")
        .mayOnlyBeAccessedByLayers("main", "commands")
        .whereLayer("command")
        .mayOnlyBeAccessedByLayers("main", "commands", "backend")
        .whereLayer("terminal")
        .mayOnlyAccessLayers("process")
        .whereLayer("process")
        .mayNotAccessAnyLayer()
        .whereLayer("report")
        .mayNotAccessAnyLayer()
        .ensureAllClassesAreContainedInArchitecture()
        .check(CLASSES);
  }

  @Test
  void noCommandKnowsAnother() {
    slices()
        .matching(ROOT + ".(" + String.join("|", COMMANDS) + ")")
        .should()
        .notDependOnEachOther()
        .check(CLASSES);
  }

  private static JavaClasses imported() {
    // Arrows go by names of packages: classes of other libraries need not be read for them.
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    return new ClassFileImporter()
        .withImportOption(new ImportOption.DoNotIncludeTests())
        .importPackages(ROOT);
  }

  private static String named(String name) {
    return ROOT + "." + name;
  }
}
