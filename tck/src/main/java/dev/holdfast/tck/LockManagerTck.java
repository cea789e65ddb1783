package dev.holdfast.tck;

import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.rules.AcquireRules;
import dev.holdfast.tck.rules.AdoptionRules;
import dev.holdfast.tck.rules.AliasRules;
import dev.holdfast.tck.rules.AsOneRules;
import dev.holdfast.tck.rules.AskingRules;
import dev.holdfast.tck.rules.CapabilityRules;
import dev.holdfast.tck.rules.ClockRules;
import dev.holdfast.tck.rules.ClosingRules;
import dev.holdfast.tck.rules.ConcurrencyRules;
import dev.holdfast.tck.rules.CurrentLeaseRules;
import dev.holdfast.tck.rules.DiscoveryRules;
import dev.holdfast.tck.rules.DurationRules;
import dev.holdfast.tck.rules.EndedLeaseRules;
import dev.holdfast.tck.rules.ErrorRules;
import dev.holdfast.tck.rules.ExecuteLockedRules;
import dev.holdfast.tck.rules.ExpiryRules;
import dev.holdfast.tck.rules.ExtendRules;
import dev.holdfast.tck.rules.FailedConnectRules;
import dev.holdfast.tck.rules.FaultRules;
import dev.holdfast.tck.rules.FencingRules;
import dev.holdfast.tck.rules.FreshnessRules;
import dev.holdfast.tck.rules.FutureRules;
import dev.holdfast.tck.rules.GivingUpRules;
import dev.holdfast.tck.rules.HandoffRules;
import dev.holdfast.tck.rules.HoldAtLeastRules;
import dev.holdfast.tck.rules.InputRules;
import dev.holdfast.tck.rules.InspectionRules;
import dev.holdfast.tck.rules.InteropRules;
import dev.holdfast.tck.rules.KeepAliveRules;
import dev.holdfast.tck.rules.LateRules;
import dev.holdfast.tck.rules.LineRules;
import dev.holdfast.tck.rules.ListenerRules;
import dev.holdfast.tck.rules.LockViewRules;
import dev.holdfast.tck.rules.LossRules;
import dev.holdfast.tck.rules.ManyRules;
import dev.holdfast.tck.rules.NameRules;
import dev.holdfast.tck.rules.NodeRules;
import dev.holdfast.tck.rules.NotificationRules;
import dev.holdfast.tck.rules.OpeningRules;
import dev.holdfast.tck.rules.OptionRules;
import dev.holdfast.tck.rules.PauseRules;
import dev.holdfast.tck.rules.ReleaseRules;
import dev.holdfast.tck.rules.SecretRules;
import dev.holdfast.tck.rules.TckFixture;
import dev.holdfast.tck.rules.TimeOutRules;
import dev.holdfast.tck.rules.TlsRules;
import dev.holdfast.tck.rules.TokenRules;
import dev.holdfast.tck.rules.TransactionRules;
import dev.holdfast.tck.rules.TransferRules;
import dev.holdfast.tck.rules.TryExecuteLockedRules;
import dev.holdfast.tck.rules.ValidityRules;
import dev.holdfast.tck.rules.WaitValueRules;
import dev.holdfast.tck.rules.WaitingRules;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

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
 * <p>Where JUnit is told to run tests in parallel ({@code
 * junit.jupiter.execution.parallel.enabled=true}), tests of the kit run side by side, each with an
 * environment of its own: most of them wait most of their time.
 *
 * <p>Each test proves one rule of SPEC.md. Rules of capabilities that the managers do not declare,
 * and those that the environment can make no fault for, are not shown, with the reason.
 */
@TestInstance(Lifecycle.PER_CLASS)
@Execution(ExecutionMode.SAME_THREAD)
@DisplayNameGeneration(RuleNames.class)
@SuppressWarnings("this-escape") // asked for an environment before the first test, not before
public abstract class LockManagerTck {
  @RegisterExtension final TckExtension extension = new TckExtension(getClass(), this::environment);

  /** For subclasses. */
  protected LockManagerTck() {}

  /**
   * Supplies what the kit needs. Called before the first test; and again for each test that runs
   * beside others, if the first environment {@linkplain TckEnvironment#isIsolated() is isolated}.
   *
   * @return a new environment, which the kit closes
   */
  protected abstract TckEnvironment environment();

  @AfterAll
  final void end() {
    extension.end();
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Acquire extends AcquireRules {
    Acquire(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Asking extends AskingRules {
    Asking(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Names extends NameRules {
    Names(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Expiry extends ExpiryRules {
    Expiry(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class HoldAtLeast extends HoldAtLeastRules {
    HoldAtLeast(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Fencing extends FencingRules {
    Fencing(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class ExecuteLocked extends ExecuteLockedRules {
    ExecuteLocked(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class TryExecuteLocked extends TryExecuteLockedRules {
    TryExecuteLocked(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class CurrentLeases extends CurrentLeaseRules {
    CurrentLeases(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class LockViews extends LockViewRules {
    LockViews(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Validity extends ValidityRules {
    Validity(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Release extends ReleaseRules {
    Release(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Extend extends ExtendRules {
    Extend(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Loss extends LossRules {
    Loss(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Transfers extends TransferRules {
    Transfers(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Adoptions extends AdoptionRules {
    Adoptions(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class EndedLeases extends EndedLeaseRules {
    EndedLeases(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Waiting extends WaitingRules {
    Waiting(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Pauses extends PauseRules {
    Pauses(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Line extends LineRules {
    Line(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class GivingUp extends GivingUpRules {
    GivingUp(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Inspection extends InspectionRules {
    Inspection(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Capabilities extends CapabilityRules {
    Capabilities(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Discovery extends DiscoveryRules {
    Discovery(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Errors extends ErrorRules {
    Errors(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Input extends InputRules {
    Input(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Secrets extends SecretRules {
    Secrets(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Late extends LateRules {
    Late(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class AsOne extends AsOneRules {
    AsOne(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Aliases extends AliasRules {
    Aliases(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Freshness extends FreshnessRules {
    Freshness(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Interop extends InteropRules {
    Interop(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Opening extends OpeningRules {
    Opening(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Closing extends ClosingRules {
    Closing(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class FailedConnects extends FailedConnectRules {
    FailedConnects(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Transactions extends TransactionRules {
    Transactions(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Durations extends DurationRules {
    Durations(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class WaitValues extends WaitValueRules {
    WaitValues(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Options extends OptionRules {
    Options(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Tls extends TlsRules {
    Tls(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Tokens extends TokenRules {
    Tokens(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Handoffs extends HandoffRules {
    Handoffs(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Many extends ManyRules {
    Many(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Futures extends FutureRules {
    Futures(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Clocks extends ClockRules {
    Clocks(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Listening extends ListenerRules {
    Listening(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Nodes extends NodeRules {
    Nodes(TckFixture fixture) {
      super(fixture);
    }
  }

  // JUnit begins with the last of them, so that those that take longest stand here.

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Concurrency extends ConcurrencyRules {
    Concurrency(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Notifications extends NotificationRules {
    Notifications(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class KeepAlive extends KeepAliveRules {
    KeepAlive(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class Faults extends FaultRules {
    Faults(TckFixture fixture) {
      super(fixture);
    }
  }

  @Nested
  @TestInstance(Lifecycle.PER_METHOD)
  @Execution(ExecutionMode.CONCURRENT)
  class TimeOuts extends TimeOutRules {
    TimeOuts(TckFixture fixture) {
      super(fixture);
    }
  }
}
