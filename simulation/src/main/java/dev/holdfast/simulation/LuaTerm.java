package dev.holdfast.simulation;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of a script that has a value: null for nil, a Boolean, a Double, a String, a list for a
 * table, a {@link Lua.Status} or a {@link RedisError}. A term that is a number or a truth by its
 * form gives it as a primitive, because boxes for them would take most of a script's time.
 */
interface LuaTerm {
  @Nullable Object value(Frame frame);

  /** Returns the number for arithmetic, which accepts a text as a number. */
  default double number(Frame frame) {
    Double number = LuaNumber.of(value(frame));
    if (number == null) {
      throw new RedisError("ERR attempt to perform arithmetic on what is no number");
    }
    return number;
  }

  /** Returns the number for a comparison, which accepts no text as a number. */
  default double compared(Frame frame) {
    if (value(frame) instanceof Double number) {
      return number;
    }
    throw new RedisError("ERR attempt to compare what is no number");
  }

  default boolean isTrue(Frame frame) {
    return isTrue(value(frame));
  }

  /** Returns whether a value counts as true: any value except nil and false. */
  static boolean isTrue(@Nullable Object value) {
    return value instanceof Boolean flag ? flag : value != null;
  }

  /** Returns the text for a concatenation. */
  default String text(Frame frame) {
    Object value = value(frame);
    if (value instanceof String text) {
      return text;
    }
    if (value instanceof Double number) {
      return LuaNumber.joined(number);
    }
    throw new RedisError("ERR attempt to concatenate what is neither text nor a number");
  }

  default List<?> table(Frame frame) {
    if (value(frame) instanceof List<?> list) {
      return list;
    }
    throw new RedisError("ERR attempt to index a value that is no table");
  }

  /** A term with a value that is always a number. */
  interface Arithmetic extends LuaTerm {
    @Override
    double number(Frame frame);

    @Override
    default Object value(Frame frame) {
      return number(frame);
    }

    @Override
    default double compared(Frame frame) {
      return number(frame);
    }
  }

  /** A term with a value that is always true or false. */
  interface Condition extends LuaTerm {
    @Override
    boolean isTrue(Frame frame);

    @Override
    default Object value(Frame frame) {
      return isTrue(frame);
    }
  }

  /** A constant. */
  record Text(String text) implements LuaTerm {
    @Override
    public Object value(Frame frame) {
      return text;
    }
  }

  /** A constant. */
  record Digits(double number) implements Arithmetic {
    @Override
    public double number(Frame frame) {
      return number;
    }
  }

  /** One run of a script. */
  final class Frame {
    final Lua.Commands commands;
    final List<String> keys;
    final List<String> arguments;
    final @Nullable Object[] locals;
    @Nullable Object result;

    Frame(Lua.Commands commands, List<String> keys, List<String> arguments, int locals) {
      this.commands = commands;
      this.keys = keys;
      this.arguments = arguments;
      this.locals = new Object[locals];
    }
  }
}
