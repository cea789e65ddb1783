package dev.holdfast.redlock;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Servers hide the code of some of what failed inside a script, each their way: finds it again. */
final class ScriptError {
  /**
   * For example {@code ERR Error running script (call to f_…): @user_script:1: WRONGTYPE …}, and
   * with {@code @user_script: 1: -READONLY …} for what the server refused before it ran.
   */
  private static final Pattern WRAPPED =
      Pattern.compile("(?s)ERR Error running script .*?@user_script: ?\\d+: -?(?!@)(.*)");

  /** Redis 7 and Valkey give it the code {@code ERR}, and Redis 6 none. */
  private static final Pattern NO_RIGHT =
      Pattern.compile(
          "(?s)(?:ERR )?"
              + "((?:The user executing the script can't run this command|ACL failure in script: ).*)");

  private ScriptError() {}

  /** The error as it would be outside of a script, its code first. */
  static String unwrapped(String error) {
    Matcher wrapped = WRAPPED.matcher(error);
    String inner = wrapped.matches() ? wrapped.group(1) : error;
    Matcher noRight = NO_RIGHT.matcher(inner);
    return noRight.matches() ? "NOPERM " + noRight.group(1) : inner;
  }
}
