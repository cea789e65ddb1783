package dev.holdfast.tck;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The kit. A backend's author extends it, with JUnit 5 or 6 as the engine:
 *
 * <pre>{@code
 * class MyBackendTckTest extends LockManagerTck {
 *   @Override
 *   protected TckEnvironment environment() {
 *     return TckEnvironment.ofUrl("mybackend:somewhere");
 *   }
 * }
 * }</pre>
 *
 * <p>Each test proves one rule of SPEC.md. Rules of capabilities that the managers do not declare,
 * and those that the environment can make no fault for, are reported as skipped, with the reason.
 */
@TestInstance(Lifecycle.PER_CLASS)
@DisplayNameGeneration(RuleNames.class)
public abstract class LockManagerTck {
  private final TckEnvironment environment = environment();

  @RegisterExtension final TckExtension extension = new TckExtension(getClass(), environment);

  /** For subclasses. */
  protected LockManagerTck() {}

  /**
   * Supplies what the kit needs. Called once, from the constructor.
   *
   * @return a new environment, which the kit closes
   */
  protected abstract TckEnvironment environment();

  @AfterAll
  final void end() {
    environment.close();
    extension.assertBrokenByDesign();
  }

  @Nested
  class Acquire extends AcquireRules {
    Acquire(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Validity extends ValidityRules {
    Validity(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Release extends ReleaseRules {
    Release(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Extend extends ExtendRules {
    Extend(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class KeepAlive extends KeepAliveRules {
    KeepAlive(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Loss extends LossRules {
    Loss(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Waiting extends WaitingRules {
    Waiting(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Inspection extends InspectionRules {
    Inspection(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Capabilities extends CapabilityRules {
    Capabilities(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Discovery extends DiscoveryRules {
    Discovery(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Errors extends ErrorRules {
    Errors(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Faults extends FaultRules {
    Faults(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Concurrency extends ConcurrencyRules {
    Concurrency(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Interop extends InteropRules {
    Interop(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Opening extends OpeningRules {
    Opening(Trial trial) {
      super(trial);
    }
  }

  @Nested
  class Closing extends ClosingRules {
    Closing(Trial trial) {
      super(trial);
    }
  }
}
