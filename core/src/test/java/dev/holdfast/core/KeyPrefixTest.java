package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockConfigurationException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class KeyPrefixTest {
  @Test
  @DisplayName("a key is the prefix and the name")
  void aKeyIsThePrefixAndTheName() {
    assertThat(new KeyPrefix("app:").keyOf("invoice")).isEqualTo("app:invoice");
    assertThat(new KeyPrefix("").keyOf("invoice")).isEqualTo("invoice");
  }

  @Test
  @DisplayName("no lock is put where our own keys are, however its key is composed")
  void ourOwnKeysAreNoLocks() {
    assertThatThrownBy(() -> new KeyPrefix("hold").requireName("fast:guard"))
        .isInstanceOf(LockConfigurationException.class)
        .hasMessage(
            "the key 'holdfast:guard' begins with holdfast:, as our own keys do: use another name"
                + " or keyPrefix");
    assertThatThrownBy(() -> new KeyPrefix("").requireName("holdfast:guard"))
        .isInstanceOf(LockConfigurationException.class);
    assertThatCode(() -> new KeyPrefix("app:").requireName("holdfast:guard"))
        .doesNotThrowAnyException();
  }
}
