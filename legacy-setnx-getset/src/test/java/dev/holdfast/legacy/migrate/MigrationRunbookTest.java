package dev.holdfast.legacy.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Lease;
import dev.holdfast.LockManager;
import dev.holdfast.testnodes.TestNodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The URLs of docs/migration.md, as they stand there, with real servers in place of its hosts. */
class MigrationRunbookTest {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Pattern URL =
      Pattern.compile("^migrate:(?:from|both|to)\\?\\S+$", Pattern.MULTILINE);
  private static final Pattern HOST = Pattern.compile("redis://([a-z]+[0-9]?):6379");

  @Test
  @DisplayName("every URL of the runbook opens a manager that gives out locks")
  void everyUrlWorks() throws IOException, InterruptedException {
    String runbook = Files.readString(runbook());
    List<String> urls = URL.matcher(runbook).results().map(match -> match.group()).toList();
    Set<String> hosts = new LinkedHashSet<>();
    HOST.matcher(runbook).results().forEach(match -> hosts.add(match.group()));
    assertThat(urls).hasSize(5);

    try (TestNodes nodes = TestNodes.start(hosts.size())) {
      for (String url : urls) {
        try (LockManager locks = LockManager.open(onTestNodes(url, List.copyOf(hosts), nodes));
            Lease lease = locks.acquire("job", TTL)) {
          assertThat(lease.isHeld()).as(url).isTrue();
        }
      }
    }
  }

  private static String onTestNodes(String url, List<String> hosts, TestNodes nodes) {
    String replaced = url;
    for (int i = 0; i < hosts.size(); i++) {
      replaced = replaced.replace(hosts.get(i), nodes.uris().get(i));
    }
    return replaced;
  }

  /** Tests run in the module's folder, the documents are beside it. */
  private static Path runbook() {
    return Stream.iterate(Path.of("").toAbsolutePath(), p -> p != null, Path::getParent)
        .map(folder -> folder.resolve("docs/migration.md"))
        .filter(Files::exists)
        .findFirst()
        .orElseThrow();
  }
}
