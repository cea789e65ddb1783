package dev.holdfast.spring;

import dev.holdfast.LockConfigurationException;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** The name of a method's lock: a SpEL template that is parsed once. Safe for many threads. */
final class LockName {
  private static final SpelExpressionParser PARSER = new SpelExpressionParser();
  private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

  private final Method method;
  private final LockedSettings settings;
  private final List<Expression> parts;

  private LockName(Method method, LockedSettings settings, List<Expression> parts) {
    this.method = method;
    this.settings = settings;
    this.parts = parts;
  }

  /**
   * Parses a template.
   *
   * @throws LockConfigurationException if it is no template, or names a variable that the method
   *     does not have
   */
  static LockName parse(String template, Method method, LockedSettings settings) {
    if (template.isEmpty()) {
      throw new LockConfigurationException("the name is empty; give at least one character");
    }
    List<Expression> parts;
    try {
      Expression all = PARSER.parseExpression(template, new TemplateParserContext());
      parts =
          all instanceof CompositeStringExpression several
              ? List.of(several.getExpressions())
              : List.of(all);
    } catch (ParseException | IllegalStateException | IllegalArgumentException e) {
      throw new LockConfigurationException(
          "the name '"
              + template
              + "' is not a SpEL template; write an expression as #{#id} in it\n"
              + e.getMessage(),
          e);
    }
    Set<String> variables = variables(method);
    for (Expression part : parts) {
      if (part instanceof SpelExpression spel) {
        requireKnown(spel.getAST(), variables, template);
      }
    }
    return new LockName(method, settings, parts);
  }

  private static Set<String> variables(Method method) {
    Set<String> variables = new HashSet<>(List.of("root", "this"));
    for (int i = 0; i < method.getParameterCount(); i++) {
      variables.add("p" + i);
      variables.add("a" + i);
    }
    @Nullable String @Nullable [] names = NAMES.getParameterNames(method);
    if (names != null) {
      for (String name : names) {
        if (name != null) {
          variables.add(name);
        }
      }
    }
    return variables;
  }

  private static void requireKnown(SpelNode node, Set<String> variables, String template) {
    if (node instanceof VariableReference variable
        && !variables.contains(variable.toStringAST().substring(1))) {
      throw new LockConfigurationException(
          "the name '"
              + template
              + "' uses "
              + variable.toStringAST()
              + ", which is no parameter; correct it, compile with -parameters, or write #p0 for"
              + " the first parameter");
    }
    for (int i = 0; i < node.getChildCount(); i++) {
      requireKnown(node.getChild(i), variables, template);
    }
  }

  /**
   * Evaluates the template for a call.
   *
   * @throws LockConfigurationException if an expression yields null or an empty text
   */
  String evaluate(@Nullable Object target, @Nullable Object[] arguments) {
    if (parts.size() == 1 && parts.get(0) instanceof LiteralExpression constant) {
      return constant.getValue();
    }
    MethodBasedEvaluationContext context =
        new MethodBasedEvaluationContext(target, method, arguments, NAMES);
    context.setBeanResolver(new BeanFactoryResolver(settings.beans()));
    StringBuilder name = new StringBuilder();
    for (Expression part : parts) {
      String text = part.getValue(context, String.class);
      if (text == null || text.isEmpty()) {
        throw new LockConfigurationException(
            "the lock's name of "
                + LockedMethod.describe(method)
                + " has a part #{"
                + part.getExpressionString()
                + "} that is "
                + (text == null ? "null" : "empty")
                + "; pass a value, or check the argument before the call");
      }
      name.append(text);
    }
    return name.toString();
  }
}
