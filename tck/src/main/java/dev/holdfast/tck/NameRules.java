package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockManager;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** A name is taken as it is. */
abstract class NameRules {
  final Trial trial;

  NameRules(Trial trial) {
    this.trial = trial;
  }

  @Test
  @Rule("ACQ-7")
  @IfThisFails("check that a name is neither trimmed, folded, normalized, escaped nor cut off")
  void namesThatDifferLockApart() throws InterruptedException {
    String base = trial.name("name");
    String longest = base + "n".repeat(1023 - base.length());
    List<String> names =
        List.of(
            base,
            base.toUpperCase(Locale.ROOT),
            " " + base,
            base + " ",
            base + "\t",
            base + "\n",
            base + "\r\n",
            base + "\u0000",
            base + "\u0000b",
            base + "\u200b",
            base + "\u00e9",
            base + "e\u0301",
            base + "\u00c9",
            base + "\u00df",
            base + "ss",
            base + "\ufb01",
            base + "fi",
            base + "\ud83d\udd12",
            base + "\ud83d\udd13",
            base + "?",
            base + "*",
            base + "{a}",
            base + "{b}",
            base + "a b",
            base + "a%20b",
            base + "a+b",
            base + "a/b",
            base + "a//b",
            base + "\\",
            base + "\"",
            base + ":1",
            base + ":01",
            longest + "1",
            longest + "2");
    LockManager[] managers = {trial.open(), trial.open()};
    for (int i = 0; i < names.size(); i++) {
      assertThat(trial.gets(managers[i % 2], names.get(i)))
          .as("'%s' is got while others are held that look like it", names.get(i))
          .isTrue();
    }
  }

  @Test
  @Rule("ACQ-7")
  @IfThisFails("check that names of any bytes, and of up to 1 KiB, are locked like others")
  void namesThatLookLikeSomethingElseAreLockedAndGivenBackAsTheyWereAskedFor()
      throws InterruptedException {
    LockManager locks = trial.open();
    LockManager other = trial.open();
    String base = trial.name("odd");
    for (String name :
        List.of(
            " " + base + " ",
            base + "\u0000\r\n\t*{}[]\"\\ \u2603",
            "\r\n$3\r\nDEL\r\n" + base,
            base + "\u007f\u0080\u00ff\uffff",
            base + "\ud83d\udd12",
            base + "n".repeat(1024 - base.length()),
            base + "\u20ac".repeat((1024 - base.length()) / 3))) {
      assertThat(trial.take(locks, name, trial.ttl()).name()).isEqualTo(name);
      assertThat(trial.gets(other, name)).as("'%s' is granted to another, too", name).isFalse();
    }
  }
}
