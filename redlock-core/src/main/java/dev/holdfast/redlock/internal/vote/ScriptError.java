package dev.holdfast.redlock.internal.vote;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Unwraps errors that occurred inside a script, whose code servers hide, each in its way. */
public final class ScriptError {
  /**
   * The error of a script, for example {@code ERR Error running script (call to
   * f_…): @user_script:1: WRONGTYPE …}, or with {@code @user_script: 1: -READONLY …} for a command
   * that the server refused to run.
   */
  private static final Pattern WRAPPED =
      Pattern.compile("(?s)ERR Error running script .*?@user_script: ?\\d+: -?(?!@)(.*)");

  /**
   * The error of a command that the user may not run. Redis 7 and Valkey give it the code {@code
   * ERR}, and Redis 6 none.
   */
  private static final Pattern NO_RIGHT =
      Pattern.compile(
          "(?s)(?:ERR )?((?:The user executing the script can't run this command|ACL failure in"
              + " script: ).*)");

  private ScriptError() {}

  /** Returns the error as it would be outside of a script, its code first. */
  public static String unwrapped(String error) {
    Matcher wrapped = WRAPPED.matcher(error);
    String inner = wrapped.matches() ? wrapped.group(1) : error;
    Matcher noRight = NO_RIGHT.matcher(inner);
    return noRight.matches() ? "NOPERM " + noRight.group(1) : inner;
  }
}
