import CommandLineTools
import CommandTestSupport
import Exploration
import Foundation
import PurchaseSyncTesting
import ScenarioFormat
import TestSupport
import Testing

@testable import purchase_lab

/// The acts of a run as a scenario that real processes play.
@Suite struct ExploredScenarioTests {
  private static let day: Int64 = 86_400_000

  /// One phone, whose first user is alice.
  private func knobs(phones: Int = 1, accounts: Int = 1, storeAccounts: Int = 1) -> MachineKnobs {
    var knobs = MachineKnobs(seed: 1, profile: .calm)
    (knobs.phones, knobs.accounts, knobs.storeAccounts) = (phones, accounts, storeAccounts)
    return knobs
  }

  /// One act each hour.
  private func scenario(_ acts: [Act], _ knobs: MachineKnobs? = nil) throws -> ExploredScenario {
    let planned = acts.enumerated().map { index, act in
      (place: index, planned: PlannedAct(at: Int64(index + 1) * 3_600_000, act: act))
    }
    let scenario = ExploredScenario(
      name: "explore-1", acts: planned, knobs: (knobs ?? self.knobs()).description)
    // The file can always be read.
    #expect(try ScenarioFile.scenario(in: ScenarioFile.text(of: scenario.scenario)) == scenario.scenario)
    return scenario
  }

  private func buying(
    _ product: Int = 0, phone: Int = 0, hasOrder: Bool = true, forgetsToken: Bool = false,
    proofs: Buying.ProofMix = .signed, waits: Int64 = 0, poison: Buying.Poison = .none
  ) -> Act {
    .buy(
      Buying(
        phone: phone, product: product, hasOrder: hasOrder, forgetsToken: forgetsToken, proofs: proofs,
        waits: waits, poison: poison))
  }

  private let buy = AppStep.buy(product: "gems.100", account: "alice")
  private let open = AppStep.use(milliseconds: 300)
  private let last = Scenario.Launch(signedIn: ["alice"])

  private func launch(
    before: [EnvironmentStep] = [], _ does: [AppStep] = [], killed: Crash? = nil, reinstalled: Bool = false
  ) -> Scenario.Launch {
    Scenario.Launch(
      before: before, signedIn: ["alice"], does: does, killed: killed, reinstalled: reinstalled)
  }

  // MARK: Purchases

  @Test(arguments: [
    (0, true, AppStep.buy(product: "gems.100", account: "alice")),
    (1, true, .buy(product: "coins.500", account: "alice")),
    (2, true, .buy(product: "basic.monthly", account: "alice")),
    (0, false, .buyWithoutOrder(product: "gems.100")),
  ])
  func `a purchase is made in the app, for the account that uses it`(
    product: Int, hasOrder: Bool, step: AppStep
  ) throws {
    let scenario = try scenario([buying(product, hasOrder: hasOrder)])
    #expect(scenario.launches == [launch([step, open]), last])
    #expect(scenario.leftOut == [])
  }

  @Test func `the proofs and the forgotten token set how the store delivers`() throws {
    let scenario = try scenario([
      buying(), buying(proofs: .both), buying(proofs: .both), buying(forgetsToken: true, proofs: .receipt),
    ])
    #expect(
      scenario.launches == [
        launch([buy, open]),
        launch(
          before: [.delivery(proofs: ["signedTransaction", "appReceipt"], forgetsToken: false)],
          [buy, buy, open]),
        launch(before: [.delivery(proofs: ["appReceipt"], forgetsToken: true)], [buy, open]), last,
      ])
  }

  @Test func `a purchase that waits for approval is charged when it is approved`() throws {
    let scenario = try scenario([
      buying(waits: 2 * 3_600_000), .wake(phone: 0, reason: 0), buying(), buying(),
    ])
    let (asks, pays) = (
      EnvironmentStep.payment(storeAccount: "apple-1", asksToBuy: true, interruptions: 0),
      EnvironmentStep.payment(storeAccount: "apple-1", asksToBuy: false, interruptions: 0)
    )
    #expect(
      scenario.launches == [
        launch(before: [asks], [buy, open]), launch(before: [pays], [open]),
        launch([.use(milliseconds: 1), open]), launch(before: [.approved], [buy, buy, open]), last,
      ])
    // The charge that came second.
    let refunded = try self.scenario([buying(waits: 5 * 3_600_000), buying(), .refund(purchase: 1)])
    #expect(refunded.launches.flatMap(\.before).contains(.refunded(purchase: 1)))
    #expect(refunded.launches.flatMap(\.before).contains(.approved))
  }

  @Test(arguments: [
    (Buying.Poison.rejected, Int64(0), "what makes a purchase undeliverable (rejected)"),
    (.none, -1, "a purchase that is never approved"),
  ])
  func `a purchase that a scenario cannot express is left out`(
    poison: Buying.Poison, waits: Int64, said: String
  ) throws {
    let scenario = try scenario([buying(waits: waits, poison: poison)])
    #expect(scenario.leftOut == [said])
    #expect(scenario.scenario.description.contains("Left out: \(said)."))
  }

  // MARK: Processes and phones

  @Test func `a kill happens in the purchase that was made or in the next one`() throws {
    let kill = Act.kill(phone: 0, effects: 3, downFor: 60_000)
    #expect(
      try scenario([buying(), kill]).launches == [launch([buy, open], killed: .againAndAgain), last])
    #expect(
      try scenario([kill, buying(), buying(1)]).launches == [
        launch([buy, open], killed: .againAndAgain),
        launch([.buy(product: "coins.500", account: "alice"), open]), last,
      ])
    let cut = try scenario([buying(), .powerLoss(phone: 0, downFor: 1)])
    #expect(cut.launches.first?.killed == .againAndAgain && cut.leftOut == ["that a kill was a power cut"])
  }

  @Test func `a phone is wiped, backed up and restored, and its clock is set`() throws {
    #expect(
      try scenario([buying(), .reinstall(phone: 0)]).launches == [
        launch([buy, open], reinstalled: true), last,
      ])
    #expect(
      try scenario([.takeImage(phone: 0), buying(), .restoreImage(phone: 0)]).launches == [
        launch(before: [.phoneBackedUp], [buy, open]), launch(before: [.phoneRestored], [open]), last,
      ])
    // Without a backup nothing happens.
    #expect(try scenario([.restoreImage(phone: 0)]).launches == [last])
    #expect(
      try scenario([.clock(phone: 0, by: -365 * Self.day)]).launches.first?.does
        == [.jumpClock(milliseconds: -365 * Self.day), open])
  }

  @Test func `an extension runs beside the app, and the store delivers to a new launch`() throws {
    var beside = launch([buy, open])
    beside.extension = [.use(milliseconds: 200)]
    #expect(
      try scenario([buying(), .extensionRuns(phone: 0, milliseconds: 1), .redeliver(phone: 0)]).launches
        == [beside, launch([.use(milliseconds: 1), open]), last])
    #expect(
      try scenario([.suspend(phone: 0, milliseconds: 1)]).leftOut == ["that the app was in the background"])
  }

  @Test(arguments: [
    (StorageFault.full, [] as [String]), (.failsBefore, ["a storage that failsBefore"]),
    (.failsAfter, ["a storage that failsAfter"]),
  ])
  func `a full disk is the only storage fault of a scenario`(fault: StorageFault, leftOut: [String]) throws {
    let scenario = try scenario([.storageFault(fault, phone: 0, after: 1, count: 3)])
    #expect(scenario.leftOut == leftOut)
    #expect(scenario.launches.contains { $0.does == [.fillDisk, open] } == leftOut.isEmpty)
  }

  // MARK: People

  @Test func `users change, and all are signed in at the end`() throws {
    let scenario = try scenario(
      [
        .user(phone: 0, account: 1, othersStay: false), buying(),
        .user(phone: 0, account: -1, othersStay: false),
        buying(), .user(phone: 0, account: 0, othersStay: true), .claim(phone: 0),
      ], knobs(accounts: 2))
    #expect(
      scenario.launches.first?.does == [
        .signOut(account: "alice"), .signIn(account: "bob"), .buy(product: "gems.100", account: "bob"),
        .signOut(account: "bob"), .buyWithoutOrder(product: "gems.100"), .signIn(account: "alice"),
        .adopt(account: "alice"), open,
      ])
    #expect(scenario.launches.last == Scenario.Launch(signedIn: ["alice", "bob"]))
  }

  @Test func `another Apple ID signs in on the phone, and the first one returns`() throws {
    let scenario = try scenario(
      [buying(), .appleID(phone: 0, storeAccount: 1), buying()], knobs(storeAccounts: 3))
    #expect(scenario.launches.first?.does == [buy, .useStoreAccount("apple-2"), buy, open])
    #expect(
      scenario.launches.suffix(2) == [last, launch([.useStoreAccount("apple-1")])])
  }

  @Test func `another phone is left out; the first user and Apple ID of the one that stays are its own`()
    throws
  {
    let scenario = try scenario(
      [
        buying(phone: 1), buying(phone: 1), buying(phone: 0), .kill(phone: 0, effects: 0, downFor: 1),
        .appleID(phone: 1, storeAccount: 0),
      ], knobs(phones: 2, accounts: 2, storeAccounts: 2))
    let bob = AppStep.buy(product: "gems.100", account: "bob")
    #expect(scenario.launches.first?.does == [bob, bob, .useStoreAccount("apple-2"), open])
    #expect(scenario.launches.first?.signedIn == ["bob"])
    #expect(scenario.leftOut == ["purchases on another phone", "what happens to another phone"])
  }

  // MARK: The store and the backend

  @Test func `a refund names its charge`() throws {
    let scenario = try scenario([
      buying(), buying(1), .refund(purchase: 1), .refund(purchase: 1), .refund(purchase: 7),
      .reverseRefund(purchase: 1),
    ])
    #expect(scenario.launches.flatMap(\.before) == [.refunded(purchase: 2)])
    #expect(scenario.leftOut == ["a refund that is undone"])
  }

  @Test func `a subscription is renewed by time, and upgraded at once`() throws {
    let renewed = try scenario([
      buying(2), buying(), .renew(purchase: 0, isUpgrade: false), .refund(purchase: 1), buying(2),
    ])
    #expect(renewed.launches.flatMap(\.before) == [.wait(milliseconds: 31 * Self.day)])
    #expect(
      renewed.leftOut == ["a refund behind a renewal", "a further subscription of the same Apple ID"])
    let upgraded = try scenario([
      buying(2), .renew(purchase: 0, isUpgrade: true), .renew(purchase: 0, isUpgrade: true), buying(),
      .refund(purchase: 3),
    ])
    #expect(
      upgraded.launches.flatMap(\.before) == [
        .planChanged(purchase: 1, product: "premium.monthly"), .refunded(purchase: 3),
      ])
    // Only a subscription is renewed.
    #expect(
      try scenario([buying(), .renew(purchase: 0, isUpgrade: false)]).launches == [
        launch([buy, open]), last,
      ])
  }

  @Test func `one more purchase shows the phone that the backend was restored`() throws {
    let scenario = try scenario([buying(), .backup, .restoreBackup])
    #expect(
      scenario.launches == [
        launch([buy, open]), launch(before: [.backendBackedUp, .backendRestored], [open]),
        launch([.buy(product: "coins.500", account: "alice")]),
      ])
    let late = try self.scenario([.backup, buying(), .restoreBackup])
    #expect(!late.launches.flatMap(\.before).contains(.backendRestored))
    #expect(late.leftOut == ["a backend that is restored from a backup, and still knows later orders"])
    #expect(try self.scenario([.restoreBackup]).launches == [last])
  }

  // MARK: Faults

  @Test(arguments: Fault.allCases)
  func `a fault is a rule of a fault plan, a step of its own, or left out by name`(fault: Fault) throws {
    let scenario = try scenario([
      .fault(fault, phone: -1, milliseconds: 90 * 60_000, permille: 1_000), buying(),
      .kill(phone: 0, effects: 1, downFor: 1),
    ])
    let faults = scenario.launches.flatMap(\.before)
    switch fault {
    case .receiptLacks: #expect(faults == [.receiptLacks(purchases: 1, readings: 1)])
    case .vaultFails:
      #expect(
        scenario.launches.first?.isVaultLocked == true && scenario.launches.last?.isVaultLocked == false)
    case .errorAfterCommit, .storeUnavailable, .unknownVerdict, .foreignVerdict, .missingVerdict,
      .contradiction, .shuffled, .wrongOrder, .listingTwice, .twoServers, .freshReceipts, .signsInAgain:
      #expect(scenario.leftOut == ["\(fault)"] && faults == [])
    default:
      let rule = try #require(fault.rule(1_000))
      // The fault ends before the kill, and once more at the end.
      #expect(faults == [.faults([rule]), .faults([]), .faults([])])
      #expect(fault.rule(200)?.count == 2 && rule.count == nil)
    }
  }

  // MARK: Played

  /// Real processes play the scenario of a planted bug with the engine, which has no such bug.
  @Test(
    arguments: [MachineBug.finishBeforeAcknowledgement, .attemptsResetAtLaunch, .leaseIgnored])
  func `the scenario of a planted bug is read and played, and is clean without the bug`(plant: MachineBug)
    throws
  {
    try TemporaryDirectory.with("Scenarios") { directory in
      let found = try CommandResult(
        of: ["explore", "--plant", plant.rawValue, "--scenarios", directory], by: .lab)
      #expect(found.status == 0)
      let name = try #require(try FileManager.default.contentsOfDirectory(atPath: directory).first)
      #expect(name.wholeMatch(of: /explore-\d+-[a-z]+\.json/) != nil)
      #expect(found.output.contains("purchase-simulator run \(directory)/\(name)\n"))
      let played = try CommandResult(of: ["run", directory + "/" + name])
      #expect(played.status == 0, "\(played.output)\(played.errors)")
      #expect(played.output.contains("1 of 1 clean, 0 lost, 0 doubled"))
    }
  }

  @Test
  func `a scenario of a purchase and a kill is played`() throws {
    let scenario = try scenario([buying(), .kill(phone: 0, effects: 2, downFor: 60_000), buying(1)])
    try TemporaryDirectory.with("Scenario") { directory in
      let path = directory + "/scenario.json"
      try Data(ScenarioFile.text(of: scenario.scenario).utf8).write(to: URL(fileURLWithPath: path))
      let played = try CommandResult(of: ["run", path])
      #expect(played.status == 0, "\(played.output)\(played.errors)")
    }
  }
}
