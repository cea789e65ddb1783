package dev.holdfast.simulation;

import dev.holdfast.simulation.LuaTerm.Arithmetic;
import dev.holdfast.simulation.LuaTerm.Condition;
import dev.holdfast.simulation.LuaTerm.Frame;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BinaryOperator;
import java.util.function.DoubleBinaryOperator;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The part of Lua that the scripts are written in, so that the simulated nodes run the text that
 * real ones run. An unknown construct is an error when the script is read.
 */
final class Lua {
  private static final Pattern TOKEN =
      Pattern.compile(
          "\\s*(?:([A-Za-z_][A-Za-z_0-9]*)|(\\d+)|'([^']*)'|(==|~=|<=|>=|\\.\\.|[-+*/<>=().,{}#\\[\\]]))");

  /** The receiver of {@code redis.call}. Throws {@link RedisError}. */
  interface Commands {
    @Nullable Object call(String... words);
  }

  /** A status reply, which in Lua is a table with the field {@code ok}. */
  record Status(String text) {}

  /** Returns true once the script has returned. */
  private interface Statement {
    boolean run(Frame frame);
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

  /** Runs the script and converts its result to a reply, as Redis does. One can be an error. */
  @Nullable Object run(Commands commands, List<String> keys, List<String> arguments) {
    Frame frame = new Frame(commands, keys, arguments, locals.size());
    body.run(frame);
    return reply(frame.result);
  }

  /**
   * Converts a reply. The most frequent types are tested first, because to see that it is no list
   * takes long.
   */
  private static @Nullable Object reply(@Nullable Object value) {
    if (value instanceof Double number) {
      return number.longValue();
    }
    if (value == null || value instanceof String || value instanceof RedisError) {
      return value;
    }
    if (value instanceof Boolean flag) {
      return flag ? 1L : null;
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
    if (statements.size() == 1) {
      return statements.get(0);
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
      LuaTerm value = expression();
      int slot = locals.size();
      if (locals.put(name, slot) != null) {
        throw unknown("a second local " + name); // there is one scope only
      }
      return frame -> {
        frame.locals[slot] = value.value(frame);
        return false;
      };
    }
    if (skip("return")) {
      LuaTerm value = expression();
      return frame -> {
        frame.result = value.value(frame);
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
      LuaTerm value = expression();
      return frame -> {
        frame.locals[slot] = value.value(frame);
        return false;
      };
    }
    LuaTerm call = expression();
    return frame -> {
      call.value(frame);
      return false;
    };
  }

  private Statement condition() {
    LuaTerm test = expression();
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
    return frame -> test.isTrue(frame) ? then.run(frame) : last.run(frame);
  }

  private LuaTerm expression() {
    return chain(
        "or",
        this::conjunction,
        (first, second) ->
            frame -> {
              Object value = first.value(frame);
              return LuaTerm.isTrue(value) ? value : second.value(frame);
            });
  }

  private LuaTerm conjunction() {
    return chain(
        "and",
        this::comparison,
        (first, second) ->
            frame -> {
              Object value = first.value(frame);
              return LuaTerm.isTrue(value) ? second.value(frame) : value;
            });
  }

  /** Reads operands with an operator between them, and joins them from the left. */
  private LuaTerm chain(String operator, Supplier<LuaTerm> operand, BinaryOperator<LuaTerm> join) {
    LuaTerm left = operand.get();
    while (skip(operator)) {
      left = join.apply(left, operand.get());
    }
    return left;
  }

  private LuaTerm comparison() {
    LuaTerm left = joined();
    for (String operator : List.of("==", "~=", "<", ">", "<=", ">=")) {
      if (skip(operator)) {
        return compared(left, operator, joined());
      }
    }
    return left;
  }

  private static Condition compared(LuaTerm left, String operator, LuaTerm right) {
    if (right instanceof LuaTerm.Digits number) {
      return compared(left, operator, number.number());
    }
    if (right instanceof LuaTerm.Text constant) {
      String text = constant.text();
      return switch (operator) {
        case "==" -> frame -> text.equals(left.value(frame));
        case "~=" -> frame -> !text.equals(left.value(frame));
        default -> throw unknown(operator + " of texts");
      };
    }
    return switch (operator) {
      case "==" -> frame -> Objects.equals(left.value(frame), right.value(frame));
      case "~=" -> frame -> !Objects.equals(left.value(frame), right.value(frame));
      case "<" -> frame -> left.compared(frame) < right.compared(frame);
      case ">" -> frame -> left.compared(frame) > right.compared(frame);
      case "<=" -> frame -> left.compared(frame) <= right.compared(frame);
      default -> frame -> left.compared(frame) >= right.compared(frame);
    };
  }

  /** Compares with a constant. */
  private static Condition compared(LuaTerm left, String operator, double right) {
    return switch (operator) {
      case "==" -> frame -> left.value(frame) instanceof Double number && number == right;
      case "~=" -> frame -> !(left.value(frame) instanceof Double number && number == right);
      case "<" -> frame -> left.compared(frame) < right;
      case ">" -> frame -> left.compared(frame) > right;
      case "<=" -> frame -> left.compared(frame) <= right;
      default -> frame -> left.compared(frame) >= right;
    };
  }

  private LuaTerm joined() {
    LuaTerm left = sum();
    if (!isNext("..")) {
      return left;
    }
    List<LuaTerm> parts = new ArrayList<>(List.of(left));
    while (skip("..")) {
      parts.add(sum());
    }
    LuaTerm[] all = parts.toArray(LuaTerm[]::new);
    return frame -> {
      StringBuilder text = new StringBuilder();
      for (LuaTerm part : all) {
        text.append(part.text(frame));
      }
      return text.toString();
    };
  }

  private LuaTerm sum() {
    LuaTerm left = product();
    while (isNext("+") || isNext("-")) {
      boolean adds = take().equals("+");
      LuaTerm first = left;
      LuaTerm second = product();
      left =
          adds
              ? (Arithmetic) frame -> first.number(frame) + second.number(frame)
              : (Arithmetic) frame -> first.number(frame) - second.number(frame);
    }
    return left;
  }

  private LuaTerm product() {
    LuaTerm left = unary();
    while (isNext("*") || isNext("/")) {
      boolean multiplies = take().equals("*");
      LuaTerm first = left;
      LuaTerm second = unary();
      left =
          multiplies
              ? (Arithmetic) frame -> first.number(frame) * second.number(frame)
              : (Arithmetic) frame -> first.number(frame) / second.number(frame);
    }
    return left;
  }

  private LuaTerm unary() {
    if (skip("not")) {
      LuaTerm negated = unary();
      return (Condition) frame -> !negated.isTrue(frame);
    }
    if (skip("#")) {
      LuaTerm table = unary();
      return (Arithmetic) frame -> table.table(frame).size();
    }
    return suffixed();
  }

  private LuaTerm suffixed() {
    LuaTerm value = primary();
    while (isNext(".") || isNext("[")) {
      LuaTerm table = value;
      if (skip("[")) {
        LuaTerm index = expression();
        require("]");
        value = element(table, index);
      } else {
        require(".");
        require("ok");
        value = frame -> table.value(frame) instanceof Status status ? status.text() : null;
      }
    }
    return value;
  }

  private static LuaTerm element(LuaTerm table, LuaTerm index) {
    if (index instanceof LuaTerm.Digits constant) {
      int at = (int) constant.number();
      return frame -> element(table.table(frame), at);
    }
    return frame -> element(table.table(frame), (int) index.compared(frame));
  }

  private LuaTerm primary() {
    String token = take();
    if (token.startsWith("'")) {
      return new LuaTerm.Text(token.substring(1).intern());
    }
    if (Character.isDigit(token.charAt(0))) {
      return new LuaTerm.Digits(Double.parseDouble(token));
    }
    Integer slot = locals.get(token);
    if (slot != null) {
      int place = slot;
      return frame -> frame.locals[place];
    }
    return switch (token) {
      case "nil" -> frame -> null;
      case "true" -> (Condition) frame -> true;
      case "false" -> (Condition) frame -> false;
      case "(" -> {
        LuaTerm inner = expression();
        require(")");
        yield inner;
      }
      case "{" -> {
        List<LuaTerm> items = list("}");
        yield frame -> items.stream().map(item -> item.value(frame)).toList();
      }
      case "KEYS" -> isNext("[") ? word(frame -> frame.keys) : frame -> frame.keys;
      case "ARGV" -> isNext("[") ? word(frame -> frame.arguments) : frame -> frame.arguments;
      case "tonumber" -> {
        require("(");
        LuaTerm text = expression();
        require(")");
        yield frame -> LuaNumber.of(text.value(frame));
      }
      case "math" -> math();
      case "string" -> string();
      case "redis" -> redis();
      default -> throw unknown(token);
    };
  }

  /**
   * Reads one of the keys or of the arguments. Half of the expressions in scripts are such words.
   */
  private LuaTerm word(Function<Frame, List<String>> of) {
    require("[");
    LuaTerm index = expression();
    require("]");
    if (index instanceof LuaTerm.Digits constant) {
      int at = (int) constant.number();
      return frame -> word(of.apply(frame), at);
    }
    return frame -> word(of.apply(frame), (int) index.compared(frame));
  }

  private static @Nullable String word(List<String> words, int at) {
    return at >= 1 && at <= words.size() ? words.get(at - 1) : null;
  }

  private Arithmetic math() {
    require(".");
    String function = take();
    require("(");
    LuaTerm[] arguments = list(")").toArray(LuaTerm[]::new);
    return switch (function) {
      case "ceil" -> frame -> Math.ceil(arguments[0].number(frame));
      case "floor" -> frame -> Math.floor(arguments[0].number(frame));
      case "max" -> frame -> folded(Math::max, arguments, frame);
      case "min" -> frame -> folded(Math::min, arguments, frame);
      default -> throw unknown("math." + function);
    };
  }

  private LuaTerm string() {
    require(".");
    String function = take();
    require("(");
    LuaTerm text = expression();
    require(",");
    return switch (function) {
      case "find" -> find(text);
      case "sub" -> sub(text);
      case "format" -> format();
      default -> throw unknown("string." + function);
    };
  }

  /**
   * Reads a search for plain text from the beginning. Returns only the first of Lua's two values.
   */
  private LuaTerm find(LuaTerm text) {
    String word = take().substring(1);
    for (String plain : List.of(",", "1", ",", "true", ")")) {
      require(plain);
    }
    return frame -> {
      int found = text.text(frame).indexOf(word);
      return found < 0 ? null : (Double) (found + 1.0);
    };
  }

  /** Reads a cut from one place to another, neither of them counted from the end. */
  private LuaTerm sub(LuaTerm text) {
    LuaTerm from = expression();
    require(",");
    LuaTerm to = expression();
    require(")");
    return frame -> {
      String whole = text.text(frame);
      int begin = Math.max(1, (int) from.number(frame));
      int end = Math.min(whole.length(), (int) to.number(frame));
      return begin > end ? "" : whole.substring(begin - 1, end);
    };
  }

  /**
   * Reads a format. Only a whole number with all its digits is known, because the core uses no
   * other.
   */
  private LuaTerm format() {
    LuaTerm number = expression();
    require(")");
    return frame -> Long.toString((long) number.number(frame));
  }

  private static double folded(DoubleBinaryOperator operator, LuaTerm[] arguments, Frame frame) {
    double result = arguments[0].number(frame);
    for (int i = 1; i < arguments.length; i++) {
      result = operator.applyAsDouble(result, arguments[i].number(frame));
    }
    return result;
  }

  private LuaTerm redis() {
    require(".");
    String function = take();
    require("(");
    LuaTerm[] arguments = list(")").toArray(LuaTerm[]::new);
    return switch (function) {
      case "call" -> call(arguments);
      case "pcall" -> {
        LuaTerm call = call(arguments);
        yield frame -> {
          try {
            return call.value(frame);
          } catch (RedisError e) {
            return e;
          }
        };
      }
      case "error_reply" -> frame -> new RedisError(arguments[0].text(frame));
      default -> throw unknown("redis." + function);
    };
  }

  /** Returns the term of a call. Constant arguments are put in their places once. */
  private static LuaTerm call(LuaTerm... arguments) {
    String[] constants = new String[arguments.length];
    List<Integer> changing = new ArrayList<>();
    for (int i = 0; i < arguments.length; i++) {
      if (arguments[i] instanceof LuaTerm.Text constant) {
        constants[i] = constant.text();
      } else {
        changing.add(i);
      }
    }
    int[] places = changing.stream().mapToInt(Integer::intValue).toArray();
    return frame -> {
      String[] words = constants.clone();
      for (int place : places) {
        words[place] = word(arguments[place].value(frame));
      }
      return fromReply(frame.commands.call(words));
    };
  }

  private List<LuaTerm> list(String end) {
    List<LuaTerm> items = new ArrayList<>();
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

  private static Object fromReply(@Nullable Object reply) {
    if (reply instanceof Long number) {
      return (double) number;
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

  /** Returns an element: a missing value in a reply is false, a missing index is nil. */
  private static @Nullable Object element(List<?> table, int at) {
    return at >= 1 && at <= table.size() ? fromReply(table.get(at - 1)) : null;
  }

  private static IllegalArgumentException unknown(String what) {
    return new IllegalArgumentException(
        "the simulator's Lua does not know '" + what + "': teach it, in Lua.java");
  }
}
