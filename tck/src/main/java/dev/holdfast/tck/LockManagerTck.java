package dev.holdfast.tck;

import dev.holdfast.tck.env.TckEnvironment;
import dev.holdfast.tck.rules.AcquireRules;
import dev.holdfast.tck.rules.AdoptionRules;
import dev.holdfast.tck.rules.AliasRules;
import dev.holdfast.tck.rules.AskingRules;
import dev.holdfast.tck.rules.AtomicityRules;
import dev.holdfast.tck.rules.CallTimeRules;
import dev.holdfast.tck.rules.CancellationRules;
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
import dev.holdfast.tck.rules.GuardRules;
import dev.holdfast.tck.rules.HandoffRules;
import dev.holdfast.tck.rules.HistoryRules;
import dev.holdfast.tck.rules.HoldAtLeastRules;
import dev.holdfast.tck.rules.InputRules;
import dev.holdfast.tck.rules.InspectionRules;
import dev.holdfast.tck.rules.InteropRules;
import dev.holdfast.tck.rules.KeepAliveRules;
import dev.holdfast.tck.rules.LateRules;
import dev.holdfast.tck.rules.ListenerCallRules;
import dev.holdfast.tck.rules.ListenerRules;
import dev.holdfast.tck.rules.LockViewRules;
import dev.holdfast.tck.rules.LossRules;
import dev.holdfast.tck.rules.ManyRules;
import dev.holdfast.tck.rules.NameRules;
import dev.holdfast.tck.rules.NodeRules;
import dev.holdfast.tck.rules.NotificationRules;
import dev.holdfast.tck.rules.OpeningRules;
import dev.holdfast.tck.rules.OptionRules;
import dev.holdfast.tck.rules.OtherManagersRules;
import dev.holdfast.tck.rules.OutageRules;
import dev.holdfast.tck.rules.PauseRules;
import dev.holdfast.tck.rules.ReleaseRules;
import dev.holdfast.tck.rules.ReplyRules;
import dev.holdfast.tck.rules.ReportRules;
import dev.holdfast.tck.rules.SecretRules;
import dev.holdfast.tck.rules.TckFixture;
import dev.holdfast.tck.rules.TimelinessRules;
import dev.holdfast.tck.rules.TimeoutRules;
import dev.holdfast.tck.rules.TlsNodeRules;
import dev.holdfast.tck.rules.TlsRules;
import dev.holdfast.tck.rules.TokenRules;
import dev.holdfast.tck.rules.TransactionRules;
import dev.holdfast.tck.rules.TransferRules;
import dev.holdfast.tck.rules.TryExecuteLockedRules;
import dev.holdfast.tck.rules.ValidityRules;
import dev.holdfast.tck.rules.WaitQueueRules;
import dev.holdfast.tck.rules.WaitValueRules;
import dev.holdfast.tck.rules.WaitingRules;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayNameGeneration;
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
 * <p>If JUnit runs tests in parallel ({@code junit.jupiter.execution.parallel.enabled=true}), tests
 * of the kit run at the same time, each with an environment of its own. This makes the kit faster,
 * because most tests spend most of their time waiting.
 *
 * <p>Each test proves one rule of SPEC.md. Rules of capabilities that the managers do not declare,
 * and those that the environment can make no fault for, are not shown, with the reason.
 */
@TestInstance(Lifecycle.PER_CLASS)
@Execution(ExecutionMode.SAME_THREAD)
@DisplayNameGeneration(RuleNames.class)
@SuppressWarnings({
  "this-escape", // asked for an environment before the first test, not before
  "ClassCanBeStatic" // each rule group is a nested test, which must not be static
})
public abstract class LockManagerTck {
  @RegisterExtension final TckExtension extension = new TckExtension(getClass(), this::environment);

  /** Creates the kit, for subclasses. */
  protected LockManagerTck() {}

  /**
   * Creates an environment. Called before the first test, and again for each test that runs at the
   * same time as others, if the first environment {@linkplain TckEnvironment#isIsolated() is
   * isolated}.
   *
   * @return a new environment, which the kit closes
   */
  protected abstract TckEnvironment environment();

  @AfterAll
  final void end() {
    extension.end();
  }

  @RuleGroup
  class Acquire extends AcquireRules {
    Acquire(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Asking extends AskingRules {
    Asking(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Names extends NameRules {
    Names(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Expiry extends ExpiryRules {
    Expiry(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class HoldAtLeast extends HoldAtLeastRules {
    HoldAtLeast(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Fencing extends FencingRules {
    Fencing(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class ExecuteLocked extends ExecuteLockedRules {
    ExecuteLocked(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class TryExecuteLocked extends TryExecuteLockedRules {
    TryExecuteLocked(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class CurrentLeases extends CurrentLeaseRules {
    CurrentLeases(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class LockViews extends LockViewRules {
    LockViews(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Validity extends ValidityRules {
    Validity(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Release extends ReleaseRules {
    Release(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Extend extends ExtendRules {
    Extend(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Loss extends LossRules {
    Loss(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Transfers extends TransferRules {
    Transfers(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Adoptions extends AdoptionRules {
    Adoptions(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class EndedLeases extends EndedLeaseRules {
    EndedLeases(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Pauses extends PauseRules {
    Pauses(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class WaitQueue extends WaitQueueRules {
    WaitQueue(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Cancellation extends CancellationRules {
    Cancellation(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Inspection extends InspectionRules {
    Inspection(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Capabilities extends CapabilityRules {
    Capabilities(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Discovery extends DiscoveryRules {
    Discovery(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Errors extends ErrorRules {
    Errors(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Input extends InputRules {
    Input(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Secrets extends SecretRules {
    Secrets(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Late extends LateRules {
    Late(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Atomicity extends AtomicityRules {
    Atomicity(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Aliases extends AliasRules {
    Aliases(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Histories extends HistoryRules {
    Histories(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Freshness extends FreshnessRules {
    Freshness(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class CallTimes extends CallTimeRules {
    CallTimes(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Guard extends GuardRules {
    Guard(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Interop extends InteropRules {
    Interop(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Opening extends OpeningRules {
    Opening(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Closing extends ClosingRules {
    Closing(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class OtherManagers extends OtherManagersRules {
    OtherManagers(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class FailedConnects extends FailedConnectRules {
    FailedConnects(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Transactions extends TransactionRules {
    Transactions(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Durations extends DurationRules {
    Durations(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class WaitValues extends WaitValueRules {
    WaitValues(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Options extends OptionRules {
    Options(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Tls extends TlsRules {
    Tls(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class TlsNodes extends TlsNodeRules {
    TlsNodes(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Replies extends ReplyRules {
    Replies(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Tokens extends TokenRules {
    Tokens(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Handoffs extends HandoffRules {
    Handoffs(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Many extends ManyRules {
    Many(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Futures extends FutureRules {
    Futures(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Outages extends OutageRules {
    Outages(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Clocks extends ClockRules {
    Clocks(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Reports extends ReportRules {
    Reports(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Listening extends ListenerRules {
    Listening(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class ListenerCalls extends ListenerCallRules {
    ListenerCalls(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Timeliness extends TimelinessRules {
    Timeliness(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Nodes extends NodeRules {
    Nodes(TckFixture fixture) {
      super(fixture);
    }
  }

  // JUnit begins with the last of them, so that those that take longest stand here.

  @RuleGroup
  class Concurrency extends ConcurrencyRules {
    Concurrency(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Notifications extends NotificationRules {
    Notifications(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class KeepAlive extends KeepAliveRules {
    KeepAlive(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Faults extends FaultRules {
    Faults(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Waiting extends WaitingRules {
    Waiting(TckFixture fixture) {
      super(fixture);
    }
  }

  @RuleGroup
  class Timeouts extends TimeoutRules {
    Timeouts(TckFixture fixture) {
      super(fixture);
    }
  }
}
