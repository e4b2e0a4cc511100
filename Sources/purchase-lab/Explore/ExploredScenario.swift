import Exploration
import PurchaseSync
import PurchaseSyncTesting
import ScenarioFormat

/// The acts of a run as a scenario for real processes: one phone, launch after launch. Acts that a scenario cannot express
/// are left out and named.
///
/// It keeps the order of the acts and not their moments: an app in a scenario runs until its work is done, or for a while.
struct ExploredScenario {
  /// How long a launch before the last one lasts, in milliseconds. Its work need not be completed.
  private static let open: Int64 = 300

  let name: String
  let entries: Int
  let phone: Int
  private(set) var launches: [Scenario.Launch] = []
  /// The acts that are left out, in words.
  private(set) var leftOut: [String] = []

  // The state after the acts so far.
  var launch: Scenario.Launch
  /// The account that uses the app; -1 for none.
  var user: Int
  /// The accounts with credentials.
  var signedIn: [Int]
  private var appleID: Int
  private let firstAppleID: Int
  /// All accounts and Apple IDs: they return at the end.
  private var allUsers: Set<Int> = []
  private var allAppleIDs: Set<Int> = []
  /// The present faults, and when they end.
  private var faults: [(fault: Fault, permille: Int, until: Int64)] = []
  private var hadFaults = false
  private var delivery = (proofs: [ProofKind.signedTransaction.rawValue], forgetsToken: false)
  /// A kill waits for a purchase.
  private var isMortal = false
  /// Purchases that wait for approval, and when it comes.
  private var requests: [(place: Int, at: Int64)] = []
  var charges = ScenarioCharges()
  private var hasImage = false
  private var hasBackup = false
  private var hasOrderSinceBackup = false
  private var wasRestored = false

  /// - Parameters:
  ///   - acts: In order, each with its place in the schedule.
  ///   - knobs: The number of accounts and Apple IDs, and the limit of entries.
  init(name: String, acts: [(place: Int, planned: PlannedAct)], knobs: KnobDescription) {
    self.name = name
    entries = knobs.entries
    phone = Self.phone(of: acts.map(\.planned.act))
    user = phone % knobs.accounts
    appleID = phone % knobs.storeAccounts
    firstAppleID = appleID
    signedIn = [user]
    launch = Scenario.Launch(signedIn: [ScenarioCharges.account(user)])
    (allUsers, allAppleIDs) = ([user], [appleID])
    for (place, planned) in acts {
      goOn(to: planned.at)
      tell(planned.act, place, planned.at)
    }
    goOn(to: .max)
    end()
  }

  /// The scenario of the file.
  var scenario: Scenario {
    var scenario = Scenario(name: name, summary: name, launches: launches)
    scenario.description =
      "From the acts of one run of explore: their order is kept, and their moments are not."
      + (leftOut.isEmpty ? "" : " Left out: \(leftOut.joined(separator: "; ")).")
    if entries != 64 { scenario.entries = entries }
    return scenario
  }

  /// The phone that most purchases are made on.
  private static func phone(of acts: [Act]) -> Int {
    var counts: [Int: Int] = [:]
    for case .buy(let buying) in acts { counts[buying.phone, default: 0] += 1 }
    return counts.max { ($0.value, -$0.key) < ($1.value, -$1.key) }?.key ?? 0
  }

  // MARK: Launches

  /// Ends the launch so far, unless it is empty.
  mutating func close() {
    var done = launch
    if done.killed != nil || done.reinstalled || done.isVaultLocked || !done.extension.isEmpty
      || !done.before.isEmpty || !done.does.isEmpty
    {
      done.does.append(.use(milliseconds: Self.open))
      launches.append(done)
    }
    launch = Scenario.Launch(signedIn: signedIn.map(ScenarioCharges.account))
    launch.isVaultLocked = faults.contains { $0.fault == .vaultFails }
    isMortal = false
  }

  /// A step outside of the app, while it does not run.
  mutating func happen(_ step: EnvironmentStep) {
    if launch.killed != nil || !launch.does.isEmpty || !launch.extension.isEmpty { close() }
    launch.before.append(step)
  }

  mutating func leaveOut(_ what: String) { if !leftOut.contains(what) { leftOut.append(what) } }

  /// Ends the faults and approves the purchases up to this moment.
  private mutating func goOn(to moment: Int64) {
    while let request = requests.first, request.at <= moment {
      requests.removeFirst()
      happen(.approved)
      charges.charge(request.place)
    }
    let lasting = faults.filter { $0.until > moment }
    guard lasting.count < faults.count else { return }
    faults = lasting
    changeFaults()
  }

  private mutating func end() {
    close()
    // All accounts are signed in, and no fault is left.
    signedIn = allUsers.sorted()
    launch = Scenario.Launch(signedIn: signedIn.map(ScenarioCharges.account))
    if hadFaults { launch.before.append(.faults([])) }
    // The reply shows the phone the new epoch of the backend's ledger.
    if wasRestored, let account = launch.signedIn.first {
      launch.does.append(.buy(product: Scenario.coins, account: account))
    }
    launches.append(launch)
    for other in allAppleIDs.sorted() where other != appleID {
      launch.before = []
      launch.does = [.useStoreAccount(name(ofAppleID: other))]
      launches.append(launch)
    }
  }

  // MARK: People and phones

  /// The first one is the Apple ID of the scenario's phone at its start.
  private func name(ofAppleID number: Int) -> String {
    number == firstAppleID ? "apple-1" : "apple-\((number == 0 ? firstAppleID : number) + 1)"
  }

  mutating func buy(_ buying: Buying, _ place: Int, _ now: Int64) {
    guard buying.phone == phone else { return leaveOut("purchases on another phone") }
    guard buying.waits >= 0 else { return leaveOut("a purchase that is never approved") }
    let isSubscription = buying.product == 2
    if isSubscription, charges.subscribers.contains(appleID) {
      return leaveOut("a further subscription of the same Apple ID")
    }
    if buying.poison != .none { leaveOut("what makes a purchase undeliverable (\(buying.poison))") }
    deliver(buying)
    let account = name(ofAppleID: appleID)
    if buying.waits > 0 {
      happen(.payment(storeAccount: account, asksToBuy: true, interruptions: 0))
    }
    let product = isSubscription ? "basic.monthly" : buying.product == 0 ? Scenario.gems : Scenario.coins
    let hasOrder = buying.hasOrder && user >= 0
    if hasOrder { hasOrderSinceBackup = true }
    launch.does.append(
      hasOrder
        ? .buy(product: product, account: ScenarioCharges.account(user)) : .buyWithoutOrder(product: product))
    if isSubscription { charges.subscribers.insert(appleID) }
    if buying.waits > 0 {
      happen(.payment(storeAccount: account, asksToBuy: false, interruptions: 0))
      requests.append((place, now + buying.waits))
      requests.sort { $0.at < $1.at }
    } else {
      charges.charge(place)
    }
    if isSubscription { charges.subscriptions.insert(place) }
    if isMortal { close() }
  }

  /// Sets the interface that the store delivers by.
  private mutating func deliver(_ buying: Buying) {
    let (signed, receipt) = (ProofKind.signedTransaction.rawValue, ProofKind.appReceipt.rawValue)
    let proofs =
      switch buying.proofs {
      case .signed: [signed]
      case .receipt: [receipt]
      case .both: [signed, receipt]
      }
    guard proofs != delivery.proofs || buying.forgetsToken != delivery.forgetsToken else { return }
    delivery = (proofs, buying.forgetsToken)
    happen(.delivery(proofs: proofs, forgetsToken: buying.forgetsToken))
  }

  mutating func kill() {
    launch.killed = .againAndAgain
    // A kill that waits for a purchase happens during it.
    if launch.does.contains(where: \.isPurchase) { close() } else { isMortal = true }
  }

  mutating func use(by account: Int, othersStay: Bool) {
    for other in signedIn where !othersStay && other != account {
      launch.does.append(.signOut(account: ScenarioCharges.account(other)))
    }
    if !othersStay { signedIn = signedIn.filter { $0 == account } }
    user = account
    guard account >= 0 else { return }
    launch.does.append(.signIn(account: ScenarioCharges.account(account)))
    if !signedIn.contains(account) { signedIn.append(account) }
    allUsers.insert(account)
  }

  mutating func use(appleID number: Int) {
    appleID = number
    allAppleIDs.insert(number)
    launch.does.append(.useStoreAccount(name(ofAppleID: number)))
  }

  // MARK: Images and backups

  mutating func takeImage() {
    happen(.phoneBackedUp)
    hasImage = true
  }

  mutating func restoreImage() { if hasImage { happen(.phoneRestored) } }

  mutating func backUp() {
    happen(.backendBackedUp)
    hasBackup = true
    hasOrderSinceBackup = false
  }

  /// The simulated backend keeps its orders at a restore. The backend of a scenario has them in the restored file.
  mutating func restoreBackup() {
    guard hasBackup else { return }
    guard !hasOrderSinceBackup else {
      return leaveOut("a backend that is restored from a backup, and still knows later orders")
    }
    happen(.backendRestored)
    wasRestored = true
  }

  // MARK: Faults

  mutating func begin(_ fault: Fault, permille: Int, until: Int64) {
    guard fault == .vaultFails || fault == .receiptLacks || fault.rule(permille) != nil else {
      return leaveOut("\(fault)")
    }
    if fault == .receiptLacks { return happen(.receiptLacks(purchases: 1, readings: 1)) }
    faults.append((fault, permille, until))
    changeFaults()
  }

  private mutating func changeFaults() {
    hadFaults = true
    close()
    happen(.faults(faults.compactMap { $0.fault.rule($0.permille) }))
  }
}

/// The charge of each purchase of a scenario.
struct ScenarioCharges {
  private var numbers: [Int: Int] = [:]
  private var count = 0
  /// Whether the numbers are known: renewals are charges as well, and their number is not known.
  private(set) var isSure = true
  private var refunded: Set<Int> = []
  /// Places of purchases, and Apple IDs, of subscriptions.
  var subscriptions: Set<Int> = []
  var subscribers: Set<Int> = []

  /// The account's name in a scenario.
  static func account(_ number: Int) -> String { ["alice", "bob", "carol"][number % 3] }

  mutating func charge(_ place: Int) {
    count += 1
    numbers[place] = count
  }

  /// The number of the charge, from 1; nil if it is unknown.
  func number(of place: Int) -> Int? { numbers[place] }

  /// False if it was refunded before.
  mutating func refund(_ place: Int) -> Bool { refunded.insert(place).inserted }

  /// Subscriptions are charged again.
  mutating func renew() { isSure = false }
  mutating func upgrade() { count += 1 }
}
