import FaultInjection
import PurchaseSync
import PurchaseSyncTesting

/// The acts of a life in virtual time as a story for real processes: one phone, and one launch after the other. What a
/// story has no word for is left out, and named.
///
/// Moments are not kept, only the order: an app in a story is open until nothing is left to do, or for a while.
struct ExploredStory {
  /// A launch that is not the last, in milliseconds: whatever goes wrong then need not come to its end.
  private static let open: Int64 = 300

  let name: String
  let entries: Int
  let phone: Int
  private(set) var launches: [Scenario.Launch] = []
  /// What is not in it, in words.
  private(set) var leftOut: [String] = []

  // Where the story is.
  var launch: Scenario.Launch
  /// Who uses the app; -1 for nobody.
  var user: Int
  /// Who has credentials.
  var signedIn: [Int]
  private var appleID: Int
  private let firstAppleID: Int
  /// Everybody who ever was there, to be there again at the end.
  private var allUsers: Set<Int> = []
  private var allAppleIDs: Set<Int> = []
  /// What goes wrong just now, and until when.
  private var faults: [(fault: Fault, permille: Int, until: Int64)] = []
  private var hadFaults = false
  private var delivery = (proofs: [ProofKind.signedTransaction.rawValue], forgetsToken: false)
  /// A kill waits for a purchase.
  private var isMortal = false
  /// Purchases that somebody will agree to, by when.
  private var requests: [(place: Int, at: Int64)] = []
  var charges = StoryCharges()
  private var hasImage = false
  private var hasBackup = false
  private var hasOrderSinceBackup = false
  private var wasRestored = false

  /// - Parameters:
  ///   - acts: In order, each with its place in the schedule, by which others name it.
  ///   - knobs: How many accounts and Apple IDs there are, and how much room.
  init(name: String, acts: [(place: Int, planned: PlannedAct)], knobs: Knobs) {
    self.name = name
    entries = knobs.entries
    phone = Self.phone(of: acts.map(\.planned.act))
    user = phone % knobs.accounts
    appleID = phone % knobs.storeAccounts
    firstAppleID = appleID
    signedIn = [user]
    launch = Scenario.Launch(signedIn: [StoryCharges.account(user)])
    (allUsers, allAppleIDs) = ([user], [appleID])
    for (place, planned) in acts {
      goOn(to: planned.at)
      tell(planned.act, place, planned.at)
    }
    goOn(to: .max)
    end()
  }

  /// As a file has it.
  var scenario: Scenario {
    var scenario = Scenario(name: name, summary: name, launches: launches)
    scenario.story =
      "From the acts of one life of explore, of which the order is kept, and not the moments."
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

  /// The launch so far is over, if it was anything.
  mutating func close() {
    var done = launch
    if done.killed != nil || done.reinstalled || done.isVaultLocked || !done.extension.isEmpty
      || !done.before.isEmpty || !done.does.isEmpty
    {
      done.does.append(.use(milliseconds: Self.open))
      launches.append(done)
    }
    launch = Scenario.Launch(signedIn: signedIn.map(StoryCharges.account))
    launch.isVaultLocked = faults.contains { $0.fault == .vaultFails }
    isMortal = false
  }

  /// Outside of the app, while it does not run.
  mutating func happen(_ step: WorldStep) {
    if launch.killed != nil || !launch.does.isEmpty || !launch.extension.isEmpty { close() }
    launch.before.append(step)
  }

  mutating func leaveOut(_ what: String) { if !leftOut.contains(what) { leftOut.append(what) } }

  /// What was to be over, or agreed to, by this moment.
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
    // Everybody is back, and nothing goes wrong any more.
    signedIn = allUsers.sorted()
    launch = Scenario.Launch(signedIn: signedIn.map(StoryCharges.account))
    if hadFaults { launch.before.append(.faults([])) }
    // By its answer the phone hears that the backend's ledger is another one.
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

  /// The first one is the one that a story's phone begins with.
  private func name(ofAppleID number: Int) -> String {
    number == firstAppleID ? "apple-1" : "apple-\((number == 0 ? firstAppleID : number) + 1)"
  }

  mutating func buy(_ buying: Buying, _ place: Int, _ now: Int64) {
    guard buying.phone == phone else { return leaveOut("purchases on another phone") }
    guard buying.waits >= 0 else { return leaveOut("a purchase that nobody ever agrees to") }
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
        ? .buy(product: product, account: StoryCharges.account(user)) : .buyWithoutOrder(product: product))
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

  /// Over which of its interfaces the store hands over from now on.
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
    // Armed before a purchase, it strikes in it.
    if launch.does.contains(where: \.isPurchase) { close() } else { isMortal = true }
  }

  mutating func use(by account: Int, othersStay: Bool) {
    for other in signedIn where !othersStay && other != account {
      launch.does.append(.signOut(account: StoryCharges.account(other)))
    }
    if !othersStay { signedIn = signedIn.filter { $0 == account } }
    user = account
    guard account >= 0 else { return }
    launch.does.append(.signIn(account: StoryCharges.account(account)))
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

  /// The backend of a life keeps the orders, which the backend of a story has in the same file.
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

/// Which charge of the store each purchase of a story is.
struct StoryCharges {
  private var numbers: [Int: Int] = [:]
  private var count = 0
  /// Renewals are charges as well, and nobody says how many there were.
  private(set) var isSure = true
  private var refunded: Set<Int> = []
  /// Places of purchases, and Apple IDs, of subscriptions.
  var subscriptions: Set<Int> = []
  var subscribers: Set<Int> = []

  /// As a story has it.
  static func account(_ number: Int) -> String { ["alice", "bob", "carol"][number % 3] }

  mutating func charge(_ place: Int) {
    count += 1
    numbers[place] = count
  }

  /// Which it is, from 1; nil where the purchase is none that is known.
  func number(of place: Int) -> Int? { numbers[place] }

  /// False if it was paid back before.
  mutating func refund(_ place: Int) -> Bool { refunded.insert(place).inserted }

  /// Time goes by: subscriptions are charged again.
  mutating func renew() { isSure = false }
  mutating func upgrade() { count += 1 }
}
