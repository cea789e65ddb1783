package dev.holdfast.simulation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleBinaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The part of Lua that the scripts are written in, so that the simulated nodes run the text that
 * real ones run. What it does not know is an error when the script is read.
 */
final class Lua {
  private static final Pattern TOKEN =
      Pattern.compile(
          "\\s*(?:([A-Za-z_][A-Za-z_0-9]*)|(\\d+)|'([^']*)'|(==|~=|<=|>=|\\.\\.|[-+*/<>=().,{}#\\[\\]]))");

  /** Where {@code redis.call} goes. Throws {@link RedisError}. */
  interface Commands {
    @Nullable Object call(String... words);
  }

  /** A status reply; in Lua a table with the field {@code ok}. */
  record Status(String text) {}

  private record Failure(String text) {}

  private interface Expression {
    @Nullable Object eval(Frame frame);
  }

  /** Returns true once the script has returned. */
  private interface Statement {
    boolean run(Frame frame);
  }

  private static final class Frame {
    private final Commands commands;
    private final List<String> keys;
    private final List<String> arguments;
    private final @Nullable Object[] locals;
    private @Nullable Object result;

    Frame(Commands commands, List<String> keys, List<String> arguments, int locals) {
      this.commands = commands;
      this.keys = keys;
      this.arguments = arguments;
      this.locals = new Object[locals];
    }
  }

  private final List<String> tokens = new ArrayList<>();
  private final Map<String, Integer> locals = new HashMap<>();
  private final Statement body;
  private int next;

  private Lua(String source) {
    Matcher matcher = TOKEN.matcher(source.strip());
    int at = 0;
    while (at < source.strip().length()) {
      if (!matcher.find(at) || matcher.start() != at) {
        throw unknown(source.strip().substring(at));
      }
      tokens.add(matcher.group(3) == null ? matcher.group().strip() : "'" + matcher.group(3));
      at = matcher.end();
    }
    body = block();
    if (next < tokens.size()) {
      throw unknown(tokens.get(next));
    }
  }

  static Lua of(String source) {
    return new Lua(source);
  }

  /** Runs the script and converts its result to a reply, as Redis does. */
  @Nullable Object run(Commands commands, List<String> keys, List<String> arguments) {
    Frame frame = new Frame(commands, keys, arguments, locals.size());
    body.run(frame);
    return reply(frame.result);
  }

  private static @Nullable Object reply(@Nullable Object value) {
    if (value instanceof Failure failure) {
      throw new RedisError(failure.text());
    }
    if (value instanceof Boolean flag) {
      return flag ? 1L : null;
    }
    if (value instanceof Double number) {
      return number.longValue();
    }
    if (value instanceof Status status) {
      return status.text();
    }
    return value instanceof List<?> list ? list.stream().map(Lua::reply).toList() : value;
  }

  // ---- reading
  // -----------------------------------------------------------------------------------

  private Statement block() {
    List<Statement> statements = new ArrayList<>();
    while (next < tokens.size() && !isNext("end") && !isNext("else") && !isNext("elseif")) {
      statements.add(statement());
    }
    Statement[] all = statements.toArray(Statement[]::new);
    return frame -> {
      for (Statement statement : all) {
        if (statement.run(frame)) {
          return true;
        }
      }
      return false;
    };
  }

  private Statement statement() {
    if (skip("local")) {
      String name = take();
      require("=");
      Expression value = expression();
      int slot = locals.size();
      if (locals.put(name, slot) != null) {
        throw unknown("a second local " + name); // there is one scope only
      }
      return frame -> {
        frame.locals[slot] = value.eval(frame);
        return false;
      };
    }
    if (skip("return")) {
      Expression value = expression();
      return frame -> {
        frame.result = value.eval(frame);
        return true;
      };
    }
    if (skip("if")) {
      return condition();
    }
    int slot = locals.getOrDefault(peek(), -1);
    if (slot >= 0) {
      next++;
      require("=");
      Expression value = expression();
      return frame -> {
        frame.locals[slot] = value.eval(frame);
        return false;
      };
    }
    Expression call = expression();
    return frame -> {
      call.eval(frame);
      return false;
    };
  }

  private Statement condition() {
    Expression test = expression();
    require("then");
    Statement then = block();
    Statement otherwise = frame -> false;
    if (skip("elseif")) {
      otherwise = condition();
    } else {
      if (skip("else")) {
        otherwise = block();
      }
      require("end");
    }
    Statement last = otherwise;
    return frame -> isTrue(test.eval(frame)) ? then.run(frame) : last.run(frame);
  }

  private Expression expression() {
    Expression left = conjunction();
    while (skip("or")) {
      Expression first = left;
      Expression second = conjunction();
      left =
          frame -> {
            Object value = first.eval(frame);
            return isTrue(value) ? value : second.eval(frame);
          };
    }
    return left;
  }

  private Expression conjunction() {
    Expression left = comparison();
    while (skip("and")) {
      Expression first = left;
      Expression second = comparison();
      left =
          frame -> {
            Object value = first.eval(frame);
            return isTrue(value) ? second.eval(frame) : value;
          };
    }
    return left;
  }

  private Expression comparison() {
    Expression left = joined();
    for (String operator : List.of("==", "~=", "<", ">", "<=", ">=")) {
      if (skip(operator)) {
        Expression right = joined();
        return switch (operator) {
          case "==" -> frame -> Objects.equals(left.eval(frame), right.eval(frame));
          case "~=" -> frame -> !Objects.equals(left.eval(frame), right.eval(frame));
          case "<" -> frame -> compared(left.eval(frame)) < compared(right.eval(frame));
          case ">" -> frame -> compared(left.eval(frame)) > compared(right.eval(frame));
          case "<=" -> frame -> compared(left.eval(frame)) <= compared(right.eval(frame));
          default -> frame -> compared(left.eval(frame)) >= compared(right.eval(frame));
        };
      }
    }
    return left;
  }

  private Expression joined() {
    Expression left = sum();
    if (!skip("..")) {
      return left;
    }
    Expression right = joined();
    return frame -> text(left.eval(frame)) + text(right.eval(frame));
  }

  private Expression sum() {
    Expression left = product();
    while (isNext("+") || isNext("-")) {
      boolean adds = take().equals("+");
      Expression first = left;
      Expression second = product();
      left =
          adds
              ? frame -> operand(first.eval(frame)) + operand(second.eval(frame))
              : frame -> operand(first.eval(frame)) - operand(second.eval(frame));
    }
    return left;
  }

  private Expression product() {
    Expression left = unary();
    while (isNext("*") || isNext("/")) {
      boolean multiplies = take().equals("*");
      Expression first = left;
      Expression second = unary();
      left =
          multiplies
              ? frame -> operand(first.eval(frame)) * operand(second.eval(frame))
              : frame -> operand(first.eval(frame)) / operand(second.eval(frame));
    }
    return left;
  }

  private Expression unary() {
    if (skip("not")) {
      Expression negated = unary();
      return frame -> !isTrue(negated.eval(frame));
    }
    if (skip("#")) {
      Expression table = unary();
      return frame -> (double) table(table.eval(frame)).size();
    }
    return suffixed();
  }

  private Expression suffixed() {
    Expression value = primary();
    while (isNext(".") || isNext("[")) {
      Expression table = value;
      if (skip("[")) {
        Expression index = expression();
        require("]");
        value = frame -> element(table.eval(frame), index.eval(frame));
      } else {
        require(".");
        require("ok");
        value = frame -> table.eval(frame) instanceof Status status ? status.text() : null;
      }
    }
    return value;
  }

  private Expression primary() {
    String token = take();
    if (token.startsWith("'")) {
      String text = token.substring(1);
      return frame -> text;
    }
    if (Character.isDigit(token.charAt(0))) {
      Double number = Double.valueOf(token);
      return frame -> number;
    }
    Integer slot = locals.get(token);
    if (slot != null) {
      return frame -> frame.locals[slot];
    }
    return switch (token) {
      case "nil" -> frame -> null;
      case "true" -> frame -> true;
      case "false" -> frame -> false;
      case "(" -> {
        Expression inner = expression();
        require(")");
        yield inner;
      }
      case "{" -> {
        List<Expression> items = list("}");
        yield frame -> items.stream().map(item -> item.eval(frame)).toList();
      }
      case "KEYS" -> frame -> frame.keys;
      case "ARGV" -> frame -> frame.arguments;
      case "tonumber" -> {
        require("(");
        Expression text = expression();
        require(")");
        yield frame -> LuaNumber.of(text.eval(frame));
      }
      case "math" -> math();
      case "string" -> string();
      case "redis" -> redis();
      default -> throw unknown(token);
    };
  }

  private Expression math() {
    require(".");
    String function = take();
    require("(");
    Expression[] arguments = list(")").toArray(Expression[]::new);
    return switch (function) {
      case "ceil" -> frame -> Math.ceil(operand(arguments[0].eval(frame)));
      case "floor" -> frame -> Math.floor(operand(arguments[0].eval(frame)));
      case "max" -> frame -> folded(Math::max, arguments, frame);
      case "min" -> frame -> folded(Math::min, arguments, frame);
      default -> throw unknown("math." + function);
    };
  }

  /** Of its patterns, words with {@code (%w+)} at their end. */
  private Expression string() {
    require(".");
    require("match");
    require("(");
    Expression text = expression();
    require(",");
    String pattern = take();
    require(")");
    if (!pattern.matches("'\\w+:\\(%w\\+\\)")) {
      throw unknown(pattern);
    }
    String before = pattern.substring(1, pattern.indexOf('('));
    return frame -> wordAfter(before, text(text.eval(frame)));
  }

  private static @Nullable String wordAfter(String before, String text) {
    int found = text.indexOf(before);
    while (found >= 0) {
      int begin = found + before.length();
      int end = begin;
      while (end < text.length() && isAlphanumeric(text.charAt(end))) {
        end++;
      }
      if (end > begin) {
        return text.substring(begin, end);
      }
      found = text.indexOf(before, found + 1);
    }
    return null;
  }

  private static boolean isAlphanumeric(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  }

  private static double folded(DoubleBinaryOperator operator, Expression[] arguments, Frame frame) {
    double result = operand(arguments[0].eval(frame));
    for (int i = 1; i < arguments.length; i++) {
      result = operator.applyAsDouble(result, operand(arguments[i].eval(frame)));
    }
    return result;
  }

  private Expression redis() {
    require(".");
    String function = take();
    require("(");
    Expression[] arguments = list(")").toArray(Expression[]::new);
    return switch (function) {
      case "call" ->
          frame -> {
            String[] words = new String[arguments.length];
            for (int i = 0; i < words.length; i++) {
              words[i] = word(arguments[i].eval(frame));
            }
            return fromReply(frame.commands.call(words));
          };
      case "error_reply" -> frame -> new Failure(String.valueOf(arguments[0].eval(frame)));
      default -> throw unknown("redis." + function);
    };
  }

  private List<Expression> list(String end) {
    List<Expression> items = new ArrayList<>();
    while (!skip(end)) {
      items.add(expression());
      skip(",");
    }
    return items;
  }

  private String peek() {
    return tokens.get(next);
  }

  private String take() {
    return tokens.get(next++);
  }

  private boolean isNext(String token) {
    return next < tokens.size() && peek().equals(token);
  }

  private boolean skip(String token) {
    boolean there = isNext(token);
    next += there ? 1 : 0;
    return there;
  }

  private void require(String token) {
    if (!skip(token)) {
      throw unknown(peek());
    }
  }

  // ---- running
  // -----------------------------------------------------------------------------------

  private static boolean isTrue(@Nullable Object value) {
    return value instanceof Boolean flag ? flag : value != null;
  }

  private static Object fromReply(@Nullable Object reply) {
    if (reply instanceof Long number) {
      return (double) number;
    }
    if (reply instanceof List<?> list) {
      Object[] items = list.toArray();
      for (int i = 0; i < items.length; i++) {
        items[i] = items[i] == null ? false : items[i];
      }
      return Arrays.asList(items);
    }
    return reply == null ? false : reply;
  }

  private static String word(@Nullable Object value) {
    if (value instanceof String text) {
      return text;
    }
    if (value instanceof Double number) {
      return LuaNumber.text(number);
    }
    throw new RedisError("ERR Lua redis lib command arguments must be strings or integers");
  }

  private static List<?> table(@Nullable Object value) {
    if (value instanceof List<?> list) {
      return list;
    }
    throw new RedisError("ERR attempt to index a value that is no table");
  }

  private static @Nullable Object element(@Nullable Object table, @Nullable Object index) {
    List<?> list = table(table);
    int at = (int) compared(index);
    return at >= 1 && at <= list.size() ? list.get(at - 1) : null;
  }

  private static String text(@Nullable Object value) {
    if (value instanceof String text) {
      return text;
    }
    if (value instanceof Double number) {
      return LuaNumber.joined(number);
    }
    throw new RedisError("ERR attempt to concatenate what is neither text nor a number");
  }

  private static double operand(@Nullable Object value) {
    Double number = LuaNumber.of(value);
    if (number == null) {
      throw new RedisError("ERR attempt to perform arithmetic on what is no number");
    }
    return number;
  }

  /** Unlike arithmetic, a comparison takes no text for a number. */
  private static double compared(@Nullable Object value) {
    if (!(value instanceof Double number)) {
      throw new RedisError("ERR attempt to compare what is no number");
    }
    return number;
  }

  private static IllegalArgumentException unknown(String what) {
    return new IllegalArgumentException(
        "the simulator's Lua does not know '" + what + "': teach it, in Lua.java");
  }
}
