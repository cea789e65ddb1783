package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testsupport.Rule;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServerErrorTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "NOAUTH Authentication required. | give redis://user:password@host:port",
        "WRONGPASS invalid username-password pair | check the user and password",
        "NOPERM this user has no permissions | this user's ACL lacks a right",
        "READONLY You can't write against a read only replica. | give the master",
        "MOVED 5798 127.0.0.1:7001 | cluster-enabled no",
        "CLUSTERDOWN Hash slot not served | cluster-enabled no",
        "ERR DB index is out of range | check this node's URL",
        "ERR AUTH <password> called without any password configured | check this node's URL",
        "ERR unknown command `SELECT` | it is a Sentinel"
      })
  @Rule("ERR-1")
  @DisplayName("an error that a person must correct is a misconfiguration, and says how")
  void anErrorOfTheSetupSaysWhatToDo(String text, String advice) {
    ServerError error = new ServerError(text);

    assertThat(error.isMisconfiguration()).isTrue();
    assertThat(error.advised()).contains(advice);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "OOM command not allowed when used memory > 'maxmemory'.",
        "LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script",
        "ERR",
        ""
      })
  @Rule("ERR-1")
  @DisplayName("an error that may pass is no misconfiguration, and is shown with its text")
  void anErrorThatMayPassIsNone(String text) {
    assertThat(new ServerError(text).isMisconfiguration()).isFalse();
    assertThat(new ServerError(text).advised()).startsWith(text);
  }

  @Test
  @Rule("ERR-3")
  @DisplayName("an error does not repeat the arguments of its command, which may be a password")
  void anErrorShowsNoArguments() {
    ServerError error =
        new ServerError("ERR unknown command `AUTH`, with args beginning with: `hunter2`, ");

    assertThat(error.text()).isEqualTo("ERR unknown command `AUTH`");
    assertThat(error.toString()).doesNotContain("hunter2");
    assertThat(error.advised()).doesNotContain("hunter2");
  }
}
