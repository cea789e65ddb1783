package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockCapability;
import dev.holdfast.tck.rules.IfThisFails;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** SPEC.md as the kit reads it, and the kit's own tests. */
class SpecTest {
  @Test
  void eachRuleHasItsLevelSectionCapabilityTextAndIntent() {
    assertThat(Spec.rule("ACQ-11"))
        .extracting(SpecRule::level, SpecRule::section)
        .containsExactly(SpecRule.Level.MUST, "Acquire");
    assertThat(Spec.rule("ACQ-11").capabilities()).containsExactly(LockCapability.HOLD_AT_LEAST);
    assertThat(Spec.rule("EXT-2").capabilities()).containsExactly(LockCapability.EXTENSION);
    assertThat(Spec.rule("EXT-7").capabilities())
        .as("that of its section, and its own")
        .containsExactlyInAnyOrder(LockCapability.EXTENSION, LockCapability.FAULT_TOLERANT);
    assertThat(Spec.rule("REL-1").capabilities())
        .containsExactly(LockCapability.OWNER_SAFE_RELEASE);
    assertThat(Spec.rule("REL-2").capabilities()).isEmpty();
    assertThat(Spec.rule("FAULT-3").capabilities()).containsExactly(LockCapability.FAULT_TOLERANT);
    assertThat(Spec.rule("FAULT-4").capabilities()).isEmpty();
    assertThat(Spec.rule("INT-1").section()).isEqualTo("Interoperation");
    assertThat(Spec.rule("INT-1").capabilities()).isEmpty();
    assertThat(Spec.rule("LOSS-6").level()).isEqualTo(SpecRule.Level.SHOULD);
    assertThat(Spec.rules().values())
        .allSatisfy(
            rule -> {
              assertThat(rule.text()).isNotEmpty();
              assertThat(rule.intent()).isNotEmpty();
            });
  }

  @Test
  void eachTestOfTheKitNamesOneRuleAndSaysWhatToCheck() {
    assertThat(tests())
        .hasSizeGreaterThan(200)
        .allSatisfy(
            test -> {
              Rule rule = test.getAnnotation(Rule.class);
              assertThat(rule).as("%s", test).isNotNull();
              assertThat(rule.value()).as("%s", test).hasSize(1);
              assertThat(Spec.rules()).containsKey(rule.value()[0]);
              IfThisFails hint = test.getAnnotation(IfThisFails.class);
              assertThat(hint).as("%s", test).isNotNull();
              assertThat(hint.value()).startsWith("check ");
            });
  }

  private static List<Method> tests() {
    return Arrays.stream(LockManagerTck.class.getDeclaredClasses())
        .filter(group -> group.isAnnotationPresent(RuleGroup.class))
        .flatMap(group -> Arrays.stream(group.getSuperclass().getDeclaredMethods()))
        .filter(method -> method.isAnnotationPresent(Test.class))
        .toList();
  }
}
