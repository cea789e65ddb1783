package dev.holdfast.redlock;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Redis before 7 hides the code of what failed inside a script: finds it again. */
final class ScriptError {
  /**
   * For example {@code ERR Error running script (call to f_…): @user_script:1: WRONGTYPE …}, and
   * with {@code @user_script: 1: -READONLY …} for what the server refused before it ran.
   */
  private static final Pattern WRAPPED =
      Pattern.compile("(?s)ERR Error running script .*?@user_script: ?\\d+: -?(?!@)(.*)");

  private static final String NO_RIGHT = "The user executing the script can't run this command";

  private ScriptError() {}

  /** The error as it would be outside of a script, its code first. */
  static String unwrapped(String error) {
    Matcher wrapped = WRAPPED.matcher(error);
    if (!wrapped.matches()) {
      return error;
    }
    String inner = wrapped.group(1);
    return inner.startsWith(NO_RIGHT) ? "NOPERM " + inner : inner;
  }
}
