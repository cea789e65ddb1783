package dev.holdfast.tck.broken;

import dev.holdfast.core.Scheduler;
import dev.holdfast.tck.broken.NodeError.Kind;
import dev.holdfast.tck.broken.Request.Answer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Mistakes of backends that passed the kit before a test of each was added. */
final class PassedFlaws {
  private PassedFlaws() {}

  static List<Flaw> all() {
    return List.of(
        takesForARefusal("BUSY"),
        takesForARefusal("MISCONF").asVariation(),
        takesForARefusal("NOREPLICAS").asVariation(),
        Flaw.inRedlock(
            "an attempt that was refused asks once more",
            Set.of("ACQ-6"),
            (members, clock, timeouts) ->
                new SmallRedlock(members, clock, timeouts) {
                  @Override
                  public CompletableFuture<Outcome> attempt(Attempt attempt) {
                    return super.attempt(attempt)
                        .thenCompose(
                            outcome ->
                                outcome instanceof Refusal
                                    ? super.attempt(attempt)
                                    : CompletableFuture.completedFuture(outcome));
                  }
                }),
        Flaw.of(
            "a text does not say how many nodes hold its lock",
            Set.of("TRANSFER-9"),
            Parts.RIGHT.withPrimitives(
                (members, clock, timeouts) ->
                    new TransferringRedlock(members, clock, timeouts) {
                      @Override
                      public String transferScope() {
                        return "fake nodes";
                      }
                    })));
  }

  private static Flaw takesForARefusal(String code) {
    return Flaw.inMember(
        "the error " + code + " of a node is taken for a refusal",
        Set.of("ERR-6"),
        (uri, way, network) -> new TakingForRefusals(code, uri, way, network));
  }

  private static final class TakingForRefusals extends Member {
    private final String code;

    TakingForRefusals(String code, String uri, Way way, Scheduler network) {
      super(uri, way, network);
      this.code = code;
    }

    @Override
    void ask(Request request, BooleanSupplier wanted, Consumer<Object> answer) {
      super.ask(request, wanted, reply -> answer.accept(isOfCode(reply) ? Answer.OTHER : reply));
    }

    private boolean isOfCode(Object reply) {
      return reply instanceof NodeError error
          && error.kind() == Kind.PASSING
          && String.valueOf(error.getMessage()).startsWith(code + " ");
    }
  }
}
