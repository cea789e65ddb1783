package dev.holdfast.tck.broken;

import static java.util.concurrent.CompletableFuture.supplyAsync;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.tck.Spec;
import dev.holdfast.tck.SpecRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/** Each mistake is caught by the rules that it breaks, and by no others. Each test catches some. */
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class BrokenManagersTest {
  /** They wait for most of their time. */
  private static final int RUNS_AT_A_TIME = 20;

  /** {@code -Dholdfast.flaws=REGEX} runs those mistakes alone in whose names it is found. */
  private static final Pattern WANTED = Pattern.compile(System.getProperty("holdfast.flaws", ""));

  /** Rules that no manager on these nodes can break, and what proves them. */
  private static final Map<String, String> OTHERWISE_PROVED =
      Map.ofEntries(
          Map.entry("ACQ-14", "the view is the API's own code"),
          Map.entry("ACQ-19", "executeHolding is the API's own code"),
          Map.entry("ACQ-15", "takes clients whose clocks differ"),
          Map.entry("FAULT-6", "takes nodes outside of this process"),
          Map.entry("OPEN-5", "takes users with rights"),
          Map.entry("OPEN-6", "takes servers with databases"),
          Map.entry("OPEN-7", "takes servers with certificates"),
          Map.entry("OPEN-8", "takes users with rights"),
          Map.entry("DISC-1", "takes class paths"),
          Map.entry("DISC-2", "takes class paths"),
          Map.entry("DISC-3", "takes class paths"),
          Map.entry("DISC-4", "is the API's own code"),
          Map.entry("DISC-5", "takes URLs"),
          Map.entry("DISC-6", "takes URLs"),
          Map.entry("WAIT-11", "takes a backend that tells of releases"),
          Map.entry("WAIT-13", "takes a backend that tells of releases"),
          Map.entry("LISTEN-13", "takes a clock that counts its readings"),
          Map.entry("LISTEN-14", "takes URLs"),
          Map.entry("NODES-6", "takes nodes that forget"),
          Map.entry("GUARD-1", "takes nodes that forget, which the kit's are let pass for whole"),
          Map.entry("GUARD-2", "takes nodes that forget"),
          Map.entry("GUARD-3", "takes nodes that forget"),
          Map.entry("GUARD-4", "takes nodes that remember their clients"),
          Map.entry("GUARD-5", "takes an operator"),
          Map.entry("GUARD-6", "takes nodes that remember their clients"),
          Map.entry("GUARD-7", "takes nodes that remember their clients"),
          Map.entry("GUARD-8", "takes new nodes"));

  /**
   * Tests that are left out here: they take URLs, log-ins, users without scripts, notifications, no
   * nodes, nodes that are shown, certain options or a JDK, or are of the API's own code.
   */
  private static final Set<String> LEFT_OUT =
      Set.of(
          "NameRules.anOwnKeyMadeOfPrefixAndNameIsRefused",
          "AcquireRules.aRefusedAttemptKeepsNoOtherOwnerOut",
          "ConcurrencyRules.aThousandVirtualThreadsNeverEnterTogether",
          "ConcurrencyRules.processesLoseNoIncrement",
          "CurrentLeaseRules.executeHoldingInterruptsTheTaskOfALostLeaseAndSaysSo",
          "CurrentLeaseRules.executeHoldingReturnsTheResultAndDoesNotRelease",
          "CurrentLeaseRules.executeHoldingRunsNothingUnderALeaseThatIsOver",
          "CurrentLeaseRules.noOtherThreadHasTheLeaseOfATask",
          "CurrentLeaseRules.theCurrentLeaseThatWasLostIsNotHandedOut",
          "DiscoveryRules.anUnknownOptionIsAnErrorThatNamesTheNearest",
          "DiscoveryRules.anOptionOfTheBuilderReplacesThatOfTheUrl",
          "DiscoveryRules.theBackendHasTheNameOfItsUrls",
          "DiscoveryRules.theBackendIsFound",
          "DiscoveryRules.theBackendIsFoundFromAThreadOfAnotherClassLoader",
          "DiscoveryRules.theBackendIsFoundFromAThreadWithoutAClassLoader",
          "DiscoveryRules.theCallbackExecutorOfTheBuilderIsUsed",
          "DiscoveryRules.callbacksOfEachFutureRunOnTheExecutorOfTheBuilder",
          "DiscoveryRules.executeLockedInterruptsItsTaskThoughTheExecutorOfTheBuilderIsBlocked",
          "AtomicityRules.nothingComesBetweenTheStepsOfAReleaseWithoutScripts",
          // For backends without nodes: a hundredth of a Redlock's ttl, its drift, hides a second.
          "DurationRules.aLockIsSeenForAsLongAsItsLeaseLastsHoweverLong",
          "FailedConnectRules.noThreadAndNoConnectionIsLeftOfSubscriptionsThatAreRefused",
          "FailedConnectRules.noThreadAndNoConnectionIsLeftOfManagersThatAreRefused",
          "FailedConnectRules.noThreadIsLeftOfManagersWhoseLogInIsRefused",
          "GuardRules.nodesThatLostLocksVoteAgainOnceNoneCanBeLeft",
          "GuardRules.nodesThatLoseALockOneAfterTheOtherKeepItsLease",
          // The core removes the keys of a lease that expires, also without its release.
          "EndedLeaseRules.theReleaseOfALeaseThatHasEndedReachesTheNodes",
          "FencingRules.fencingTokensIncreaseOverAdoptions",
          "FaultRules.theLockOfAProcessThatDiesIsFreeWithinTheTtl",
          "ListenerRules.aListenerOfTheBuilderMissesNothing",
          "LockViewRules.aLockViewNeedsKeepAlive",
          "LockViewRules.unlockingALostLockSaysSo",
          "NameRules.longNamesLockApartWithAPrefix",
          "NodeRules.pingIsFalseWhileNoQuorumMayVote",
          "NotificationRules.aLoginIsThatOfEveryConnection",
          "NotificationRules.aManagerIsSubscribedOnlyToNamesThatItWaitsFor",
          "NotificationRules.aManagerThatNoLongerWaitsSilencesNoOtherManager",
          "NotificationRules.aNameThatIsWaitedForAgainIsSubscribedToAgain",
          "NotificationRules.aReleaseOfAnotherNameWakesNoWaiter",
          "NotificationRules.aReleaseThatSubscriptionsMissedIsMadeUpFor",
          "NotificationRules.aWaiterThatGoesSilencesNoOther",
          "NotificationRules.everyWayToReleaseNotifiesTheWaiterOfAnyName",
          "NotificationRules.noConnectionAndNoSubscriptionIsLeftOfWaiters",
          "NotificationRules.waitersAreNotifiedAfterTheirSubscriptionsWereCut",
          "NotificationRules.waitersAreNotifiedByAnyQuorumOfNodes",
          "NotificationRules.waitersAreNotifiedWhileAnyMinorityHangs",
          "OptionRules.aDatabaseIsTheSameAfterAReconnect",
          "OptionRules.aPasswordWithoutAUserLogsIn",
          "OptionRules.contentionIsNoOutageWithAnySetOfOptions",
          "OptionRules.aUserWithoutScriptsLocksExtendsAndReleases",
          "OptionRules.noLockIsGrantedInADatabaseThatIsNotThere",
          "OptionRules.eachManagerLogsInByItsOwnUserAndPassword",
          "OptionRules.fencingTokensIncreaseWithEveryOptionSet",
          "OptionRules.managersWithDifferentOptionsExcludeEachOther",
          "OptionRules.timesAreKeptToTheMillisecondWithEveryOptionSet",
          "OutageRules.aMistakeThatFollowsAnOutageIsReportedAsOne",
          "OutageRules.aNodeWhoseConnectionEndedUnderManyCommandsVotesSoonAgain",
          "OutageRules.aRequestWithoutAWaitAsksEachNodeOnceInAnOutage",
          "ReplyRules.repliesThatComeInPiecesAreAnswers",
          "ReportRules.aListenerOfTheBuilderLearnsOfAllThatAnAddedOneLearns",
          "ReportRules.listenersOfTheBuilderAreCalledEachThoughTheyAreEqual",
          "ReportRules.theVoteOfAStragglerIsReported",
          "SecretRules.aPasswordInAUrlIsNeverShown",
          "SecretRules.aPasswordIsNotShownOfNodesThatAreDown",
          "SecretRules.thePasswordOfAUserWhoLogsInIsNeverShown",
          "TlsNodeRules.aCertificateOfAnotherHostIsRefused",
          "TlsNodeRules.aCertificateOfAnotherHostIsRefusedByLaterConnections",
          "TlsNodeRules.locksOfNodesWithTlsAreServedByTlsAlone",
          "TlsNodeRules.theCertificateOfTheKeyManagersIsShownByEachConnection",
          "TransactionRules.aReleaseThatWasAbortedIsNotSaidToBeInTime",
          "TransactionRules.anAdoptionThatWasAbortedIsNoGrant",
          "TransactionRules.anExtensionThatIsSaidToBeDoneHasLengthenedTheLock",
          "TransactionRules.anExtensionThatWasAbortedIsNotSaidToBeDone",
          "TransferRules.aTextOfAPrefixInOtherLettersIsRefusedBeforeAnyNodeIsAsked");

  /** Tests that broken drivers fail: their mistakes are in connections. */
  private static final Set<String> FAILED_BY_DRIVERS =
      Set.of(
          "OutageRules.aNodeThatRefusedLoginsIsUsedAgain",
          "SecretRules.aPasswordIsNotShownByALoginThatIsNotAnswered",
          "ClosingRules.noConnectionIsLeftOfAUserWithoutScripts",
          "OptionRules.aUserWithoutAPasswordLogsIn",
          "OptionRules.aManagerWithoutFencingTokensNeedsNoScripts",
          "OpeningRules.aUserNeedsNoOtherRightsThanThoseListed",
          "OutageRules.aNodeThatHangsHoldsUpNoNewConnectionToOthers",
          "OutageRules.nodesThatBecameReplicasAreAMistake",
          "TransferRules.neitherTheTextNorTheTokenIsShownByCallsThatAreAnsweredLate",
          "TransferRules.neitherTheTextNorTheTokenIsShownByErrorsOfNodes",
          "OptionRules.theDatabaseOfAUserWithoutScriptsIsThatOfTheUri",
          "SecretRules.aPasswordIsNotShownByALoginThatFails",
          "ReplyRules.anAttemptWhoseConnectionsEndIsAnOutage",
          "NodeRules.theEndOfAnIdleNodeIsReportedWithoutARequest",
          "NodeRules.theResetOfAnIdleConnectionIsReportedWithoutARequest",
          "NodeRules.theEndOfALaterConnectionIsNoticedWithoutARequest",
          "OpeningRules.aMinorityWhoseHostsAreUnknownIsDown",
          "OpeningRules.aHostThatOnlyResemblesANodeIsNotThatNode",
          "FailedConnectRules.openingsThatAreRefusedEndNothingThatAnotherManagerNeeds",
          "ManyRules.aBurstIsGrantedThoughNoNodeAnswersForAWhile",
          "TlsNodeRules.aUserWithoutScriptsIsServedByTls",
          "TlsRules.nothingIsSentInTheClearToANodeOfTls",
          "TlsRules.nothingIsSentInTheClearToOneNodeOfTlsAmongOthers",
          "TlsRules.nothingIsSentToANodeWithAnUntrustedCertificate",
          "TlsRules.theErrorOfANodeWithTlsNamesTheSchemeForIt",
          "TlsRules.theErrorOfANodeWithoutTlsNamesTheSchemeForIt",
          "OpeningRules.nodesThatRefuseLoginsBesideOneThatIsGoneAreAMistake",
          "OpeningRules.aPasswordThatNodesRefuseIsAMistake",
          "ManyRules.eachOfManyManagersLocks",
          "InteropRules.theLockOfAForeignClientWhoseTokenIsNoTextIsALock",
          "OutageRules.nodesVoteAgainHoweverOftenTheirConnectionsEnd",
          "OptionRules.valuesOfOptionsAreTakenAsTheyAre",
          "OptionRules.aLargerDriftMakesTheValidityShorter",
          "GuardRules.nodesThatAreEmptyLaterAreNotTrusted",
          "GuardRules.managersOfOtherTermsAreRefused",
          "GuardRules.aNodeInQuarantineIsShownWithItsEnd",
          "GuardRules.theOutageNamesTheNodesInQuarantine",
          "GuardRules.noLockIsGrantedByNodesThatLostIt",
          "TlsNodeRules.aCertificateThatHasExpiredIsRefused");

  /**
   * Rules that a manager breaks together with all others of a capability, if it refuses that
   * capability.
   */
  private static final Set<String> TOO_COARSE =
      Set.of(
          "CapabilityRules.extensionWorksIfItIsDeclared",
          "CapabilityRules.forceReleaseWorksIfItIsDeclared",
          "CapabilityRules.holdAtLeastWorksIfItIsDeclared",
          "CapabilityRules.inspectionWorksIfItIsDeclared",
          "CapabilityRules.keepAliveWorksIfItIsDeclared",
          "CapabilityRules.transferWorksIfItIsDeclared");

  /** The tests of the kit that some manager has failed. */
  private final Set<String> failed = ConcurrentHashMap.newKeySet();

  private final ExecutorService runs = Executors.newFixedThreadPool(RUNS_AT_A_TIME);

  @AfterAll
  void end() {
    runs.shutdownNow();
  }

  /** Runs only the tests of the rules that a mistake breaks: a tenth of the work. */
  @TestFactory
  @Tag("soak")
  @Order(0)
  Stream<DynamicTest> isCaughtByItsRules() {
    return runsOf(
        Flaw.all(), flaw -> rule -> flaw.rules().contains(rule), this::isCaughtByItsRules);
  }

  @TestFactory
  @Tag("soak")
  @Order(1)
  Stream<DynamicTest> breaksItsRulesAndNoOthers() {
    return runsOf(Flaw.all().stream().filter(flaw -> !flaw.isVariation()).toList());
  }

  @TestFactory
  @Tag("soak")
  @Order(2)
  Stream<DynamicTest> breaksItsRulesAndNoOthersInAnotherWay() {
    return runsOf(Flaw.all().stream().filter(Flaw::isVariation).toList());
  }

  @Test
  @Tag("soak")
  @Order(3)
  void eachTestOfTheKitFailsForABrokenManagerExceptThoseThatAreListed() {
    Set<String> never = new TreeSet<>(KitRun.tests());
    never.removeAll(failed);

    never.removeAll(LEFT_OUT);
    never.removeAll(FAILED_BY_DRIVERS);
    never.removeAll(TOO_COARSE);
    assertThat(never).isEmpty();
  }

  @Test
  void theListsNameTestsOfTheKit() {
    assertThat(KitRun.tests())
        .containsAll(LEFT_OUT)
        .containsAll(FAILED_BY_DRIVERS)
        .containsAll(TOO_COARSE);
  }

  @Test
  void noTwoAreAlike() {
    assertThat(Flaw.all()).extracting(Flaw::mistake).doesNotHaveDuplicates();
    assertThat(Flaw.all()).hasSizeGreaterThan(40);
  }

  @Test
  void everyRuleIsBrokenByAManagerExceptThoseThatAreProvedOtherwise() {
    Set<String> broken =
        Flaw.all().stream()
            .filter(flaw -> !flaw.isVariation())
            .flatMap(flaw -> flaw.rules().stream())
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> others =
        Spec.rules().values().stream()
            .map(SpecRule::id)
            .filter(id -> !broken.contains(id))
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(others).containsExactlyInAnyOrderElementsOf(OTHERWISE_PROVED.keySet());
  }

  private Stream<DynamicTest> runsOf(List<Flaw> flaws) {
    return runsOf(flaws, flaw -> rules -> true, this::breaksItsRulesAndNoOthers);
  }

  /**
   * Runs the kit with each mistake, {@link #RUNS_AT_A_TIME} at a time, then checks the results. A
   * check that repeats a run has the machine for itself.
   *
   * @param wanted which of the kit's rules are tried with a mistake
   */
  private Stream<DynamicTest> runsOf(
      List<Flaw> flaws, Function<Flaw, Predicate<String>> wanted, BiConsumer<Flaw, Runs> check) {
    List<CompletableFuture<Runs>> first =
        flaws.stream()
            .filter(flaw -> WANTED.matcher(flaw.mistake()).find())
            .map(flaw -> supplyAsync(() -> new Runs(flaw, wanted.apply(flaw)), runs))
            .toList();
    return first.stream().map(CompletableFuture::join).toList().stream()
        .map(
            runs ->
                DynamicTest.dynamicTest(runs.flaw.toString(), () -> check.accept(runs.flaw, runs)));
  }

  private void isCaughtByItsRules(Flaw flaw, Runs runs) {
    runs.repeatUntil(() -> runs.sometimes().containsAll(flaw.rules()));
    runs.failures().forEach(failure -> failed.add(failure.test()));

    assertThat(runs.sometimes()).as("%s", runs).containsAll(flaw.rules());
  }

  private void breaksItsRulesAndNoOthers(Flaw flaw, Runs runs) {
    runs.repeatUntil(
        () -> runs.sometimes().containsAll(flaw.rules()) && flaw.explains(runs.always()));
    runs.failures().forEach(failure -> failed.add(failure.test()));

    assertThat(runs.sometimes()).as("%s", runs).containsAll(flaw.rules());
    assertThat(flaw.explains(runs.always())).as("%s", runs).isTrue();
    assertThat(runs.failures())
        .as("what failed in addition to tests")
        .filteredOn(failure -> failure.rules().isEmpty())
        .isEmpty();
    assertThat(runs.passed()).isNotEmpty();
  }

  /**
   * The kit's runs with one mistake. Races decide about some failures, and stalls of so many runs
   * at a time hide or add some. So a mistake has to be caught by each of its rules in one of the
   * runs, and a rule is broken in addition only if it is in all of them.
   */
  private static final class Runs {
    private static final int MAX_RUNS = 3;

    private final Flaw flaw;
    private final Predicate<String> wanted;
    private final List<KitRun> runs = new ArrayList<>();

    Runs(Flaw flaw, Predicate<String> wanted) {
      this.flaw = flaw;
      this.wanted = wanted;
      again();
    }

    private void again() {
      runs.add(KitRun.of(flaw.environment(), wanted));
    }

    /** Runs the kit again, alone on the machine, until the result is clear. */
    void repeatUntil(BooleanSupplier enough) {
      while (!enough.getAsBoolean() && runs.size() < MAX_RUNS) {
        again();
      }
    }

    /** Returns the rules that were broken in one run or more. */
    Set<String> sometimes() {
      Set<String> rules = new TreeSet<>();
      runs.forEach(run -> rules.addAll(run.brokenRules()));
      return rules;
    }

    /** Returns the rules that were broken in all runs. */
    Set<String> always() {
      Set<String> rules = sometimes();
      runs.forEach(run -> rules.retainAll(run.brokenRules()));
      return rules;
    }

    List<KitRun.Failure> failures() {
      return runs.stream().flatMap(run -> run.failures().stream()).toList();
    }

    List<String> passed() {
      return runs.stream().flatMap(run -> run.passed().stream()).toList();
    }

    @Override
    public String toString() {
      return Stream.concat(
              failures().stream().map(Object::toString),
              runs.stream().flatMap(run -> run.skipped().stream()))
          .collect(Collectors.joining("\n", flaw + ", in " + runs.size() + " runs\n", "\n"));
    }
  }
}
