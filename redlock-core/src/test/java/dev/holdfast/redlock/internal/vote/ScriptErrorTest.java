package dev.holdfast.redlock.internal.vote;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testsupport.Rule;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Texts that real servers gave. */
class ScriptErrorTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ERR Error running script (call to f_2a7f): @user_script:1: WRONGTYPE Operation against a"
            + " key|WRONGTYPE Operation against a key",
        "ERR Error running script (call to f_2a7f): @user_script:1: @user_script: 1: -READONLY You"
            + " can't write against a read only replica."
            + "|READONLY You can't write against a read only replica.",
        "ERR Error running script (call to f_e18e): @user_script:1: @user_script: 1: -OOM command"
            + " not allowed when used memory > 'maxmemory'.|OOM command not allowed when used"
            + " memory > 'maxmemory'.",
        "ERR Error running script (call to f_2a7f): @user_script:1: @user_script: 1: The user"
            + " executing the script can't run this command or subcommand"
            + "|NOPERM The user executing the script can't run this command or subcommand",
        "ERR ACL failure in script: User app has no permissions to run the 'set' command script:"
            + " 26a9, on @user_script:41."
            + "|NOPERM ACL failure in script: User app has no permissions to run the 'set' command"
            + " script: 26a9, on @user_script:41.",
        "ERR The user executing the script can't run this command or subcommand script: 37eb, on"
            + " @user_script:3."
            + "|NOPERM The user executing the script can't run this command or subcommand script:"
            + " 37eb, on @user_script:3.",
      })
  @Rule("ERR-1")
  @DisplayName("the error of a command inside of a script is recognised")
  void errorInsideAScriptIsUnwrapped(String error, String plain) {
    assertThat(ScriptError.unwrapped(error)).isEqualTo(plain);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "WRONGTYPE Operation against a key script: f_2a7f, on @user_script:1.",
        "NOPERM this user has no permissions to access one of the keys used as arguments",
        "ERR unknown command 'EVALSHA'",
      })
  @Rule("ERR-1")
  @DisplayName("all other errors are unchanged")
  void otherErrorsAreUnchanged(String error) {
    assertThat(ScriptError.unwrapped(error)).isEqualTo(error);
  }
}
