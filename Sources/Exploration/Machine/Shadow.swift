import PurchaseQueue
import PurchaseSync
import Specification

/// The committed content of an installation's storage, as its calls reported it. A storage that is reopened after a kill
/// has to hold the same.
final class Shadow {
  struct Row {
    enum State: UInt8 { case none, queued, quarantined }

    var state = State.none
    var place: Int64 = 0
    /// When it was queued, or released from quarantine, in the simulation's time.
    var queuedAt: Int64 = 0
    var lane = 0
    var attempts = 0
    var readyAt: Int64 = 0
    /// The order of the entry, also after it was settled; -1 for none.
    var order = -1
    var candidates: [Int] = []
    /// The newest receipt; -1 for none.
    var receipt = -1
    var isSigned = false
    /// The version of its signed transaction; -1 for none.
    var version = -1
    var isUpdate = false
    /// It has a tombstone.
    var isBuried = false
    var hasPendingFinish = false
    /// In the simulation's time.
    var settledAt: Int64 = 0
    var isUnconfirmed = false
    /// The last enqueue threw.
    var hasFailed = false
    /// It was postponed or quarantined since it was queued.
    var wasPostponed = false
    /// It waits in its lane as in quarantine: that had no capacity for it, or the backend asked to wait before.
    var isAside = false
  }

  let checker: MachineChecker
  let limits: QueueLimits
  /// Hears of commits; nil if no one watches.
  let watch: ProtocolWatch?
  let phone: Int
  private(set) var rows: [Row] = []
  /// Of each order, by its number: the transaction that it is bound to; -1 for none.
  private var boundTo: [Int32] = []
  /// The entries of each lane by place. Those that left are removed at the front.
  private(set) var lanes = [[Int32]](repeating: [], count: Names.lanes.count)
  private(set) var queued = 0
  private(set) var quarantined = 0
  private(set) var unconfirmed = 0
  private(set) var pending = 0
  private(set) var buried = 0
  private(set) var queuedInLane = [Int](repeating: 0, count: Names.lanes.count)
  var retry = RetryState()
  var epoch: String?
  var adoptions = 0
  /// Accounts that adopted at any time. Another process may have completed the adoption.
  var adoptionsEver = 0
  /// The verdicts of the present reply: these entries may leave.
  var given: [(sale: Int, verdict: Verdict)] = []
  /// Whether it was restored from a backup: an entry that was settled after the backup is then no loss.
  var ofImage = false
  /// Settled transactions of which the backend is pending an update.
  var pendingUpdates: Set<Int> = []
  /// What it was before each commit that is promised soon.
  private var soon = SoonCommits<Image>()

  init(_ checker: MachineChecker, _ limits: QueueLimits, _ watch: ProtocolWatch? = nil, phone: Int = 0) {
    self.checker = checker
    self.limits = limits
    self.watch = watch
    self.phone = phone
  }

  func row(_ sale: Int) -> Row { sale >= 0 && sale < rows.count ? rows[sale] : Row() }

  private func grow(for sale: Int) {
    while rows.count <= sale { rows.append(Row()) }
  }

  func change(_ sale: Int, _ change: (inout Row) -> Void) {
    guard sale >= 0 else { return checker.broken(.noGhosts, "a row of an unknown transaction") }
    grow(for: sale)
    change(&rows[sale])
  }

  // MARK: Entries

  /// An entry was committed.
  func queued(_ entry: borrowing Entry, candidates: [String] = [], isUpdate: Bool = false) {
    watch?.take(
      .queued(Names.transaction(entry.key), on: phone, in: .init(lane: Names.lane(entry.lane), of: phone)))
    inserted(entry, candidates: candidates, isUpdate: isUpdate)
  }

  func inserted(_ entry: borrowing Entry, candidates: [String], isUpdate: Bool) {
    let sale = Names.transaction(entry.key)
    checker.expect(
      .noGhosts, sale >= 0 && sale < checker.sales, "an entry that no purchase made: \(entry.key)")
    guard sale >= 0, sale < checker.sales else { return }
    grow(for: sale)
    checker.expect(.collapse, rows[sale].state == .none, "\(entry.key) has two entries")
    let lane = Names.lane(entry.lane)
    rows[sale].state = .queued
    rows[sale].place = entry.place
    rows[sale].queuedAt = checker.moment().at
    rows[sale].lane = lane
    rows[sale].attempts = entry.attempts
    rows[sale].readyAt = entry.readyAt.milliseconds
    rows[sale].candidates = candidates.map(Names.order)
    rows[sale].isUpdate = isUpdate
    rows[sale].hasFailed = false
    rows[sale].wasPostponed = false
    rows[sale].isAside = false
    rows[sale].receipt = -1
    rows[sale].isSigned = false
    rows[sale].version = -1
    pendingUpdates.remove(sale)
    bind(sale, entry.orderNumber)
    lanes[lane].append(Int32(sale))
    queuedInLane[lane] += 1
    queued += 1
    checkLimits()
  }

  func collapsed(_ entry: borrowing Entry) {
    let sale = Names.transaction(entry.key)
    guard sale >= 0, sale < rows.count else { return }
    checker.expect(
      .collapse,
      rows[sale].state != .none && rows[sale].place == entry.place
        && rows[sale].lane == Names.lane(entry.lane),
      "\(entry.key) moved from place \(rows[sale].place) to \(entry.place)")
    checker.expect(
      .attempts, entry.attempts >= rows[sale].attempts, "\(entry.key) lost attempts when it came again")
    rows[sale].hasFailed = false
    bind(sale, entry.orderNumber)
  }

  /// One order for one transaction, permanently.
  func bind(_ sale: Int, _ number: String?) {
    guard let number else {
      checker.expect(.binding, rows[sale].order < 0, "\(Names.key(sale)) lost its order")
      return
    }
    let order = Names.order(number)
    guard order >= 0 else { return checker.broken(.binding, "an unknown order: \(number)") }
    while boundTo.count <= order { boundTo.append(-1) }
    let isFree = rows[sale].order < 0 || rows[sale].order == order
    checker.expect(.binding, isFree, "\(Names.key(sale)) has order \(number), it had \(rows[sale].order + 1)")
    let other = Int(boundTo[order])
    checker.expect(.binding, other < 0 || other == sale, "order \(number) has two transactions")
    rows[sale].order = order
    boundTo[order] = Int32(sale)
  }

  func proof(_ proof: borrowing Payload, of sale: Int) {
    guard sale >= 0, sale < rows.count, rows[sale].state != .none, proof.bytes.count > 3 else { return }
    if proof.bytes[0] == LeanStore.receiptMark {
      rows[sale].receipt = LeanStore.number(in: copy proof)
    } else {
      rows[sale].isSigned = true
      rows[sale].version = LeanStore.version(of: copy proof)
    }
  }

  func set(_ state: Row.State, of sale: Int) {
    guard sale >= 0, sale < rows.count, rows[sale].state != state else { return }
    let lane = rows[sale].lane
    if rows[sale].state == .queued { (queued, queuedInLane[lane]) = (queued - 1, queuedInLane[lane] - 1) }
    if rows[sale].state == .quarantined { quarantined -= 1 }
    rows[sale].state = state
    switch state {
    case .queued: (queued, queuedInLane[lane]) = (queued + 1, queuedInLane[lane] + 1)
    case .quarantined: quarantined += 1
    case .none:
      while let first = lanes[lane].first, rows[Int(first)].state == .none { lanes[lane].removeFirst() }
      lanes[lane].removeAll { $0 == sale }
    }
    checkLimits()
  }

  // MARK: The end

  func acknowledged(_ tombstone: borrowing Tombstone) {
    let sale = Names.transaction(tombstone.key)
    guard sale >= 0, sale < rows.count else { return }
    let verdict = tombstone.verdict
    let isGiven = given.contains { $0.sale == sale && $0.verdict == verdict }
    checker.expect(
      .leavesSettled, isGiven && verdict.isSettled,
      "\(tombstone.key) left as '\(tombstone.outcome)', which the backend did not say")
    if let number = tombstone.orderNumber { bind(sale, number) }
    if !rows[sale].isBuried { buried += 1 }
    if rows[sale].isBuried, rows[sale].isUnconfirmed { unconfirmed -= 1 }
    if rows[sale].isBuried, rows[sale].hasPendingFinish { pending -= 1 }
    rows[sale].isBuried = true
    watch?.take(.settled(sale, on: phone, .init(verdict)))
    rows[sale].hasPendingFinish = tombstone.isFinishPending
    rows[sale].settledAt = checker.moment().at
    rows[sale].isUnconfirmed = tombstone.isUnconfirmed
    if tombstone.isUnconfirmed { unconfirmed += 1 }
    if tombstone.isFinishPending { pending += 1 }
    set(.none, of: sale)
  }

  /// An update is gone without another verdict, and the outcome stays as it was.
  func staysOver(_ tombstone: Tombstone) {
    let sale = Names.transaction(tombstone.key)
    guard sale >= 0, sale < rows.count else { return }
    checker.expect(
      .leavesSettled, tombstone.verdict.isOver, "\(tombstone.key) stays '\(tombstone.outcome)' unheard")
    watch?.take(.removed(sale, on: phone, isGivenUp: false))
    set(.none, of: sale)
  }

  func finished(_ sale: Int) {
    guard sale >= 0, sale < rows.count, rows[sale].hasPendingFinish else { return }
    rows[sale].hasPendingFinish = false
    pending -= 1
  }

  func seen(_ sale: Int) {
    guard sale >= 0, sale < rows.count, rows[sale].isUnconfirmed else { return }
    rows[sale].isUnconfirmed = false
    unconfirmed -= 1
  }

  /// The storage dropped a tombstone without duties to keep within its limit.
  func forgotten(_ sale: Int) {
    guard rows[sale].isBuried else { return }
    watch?.take(.forgotten(sale, on: phone))
    if rows[sale].isUnconfirmed { unconfirmed -= 1 }
    if rows[sale].hasPendingFinish { pending -= 1 }
    let order = rows[sale].state == .none ? -1 : rows[sale].order
    if order < 0, rows[sale].order >= 0 { boundTo[rows[sale].order] = -1 }
    buried -= 1
    rows[sale].isBuried = false
    rows[sale].hasPendingFinish = false
    rows[sale].isUnconfirmed = false
    rows[sale].order = order
  }

  private func checkLimits() {
    checker.expect(
      .limit,
      queued <= limits.entries && unconfirmed <= limits.unconfirmedOutcomes
        && quarantined <= limits.quarantinedEntries,
      "\(queued) queued, \(unconfirmed) unconfirmed, \(quarantined) quarantined")
  }

  /// The content of a restored backup or of a fresh install.
  func begin(with rows: [Row], lanes: [[Int32]], boundTo: [Int32]) {
    self.rows = rows
    self.lanes = lanes
    self.boundTo = boundTo
    queued = rows.count { $0.state == .queued }
    quarantined = rows.count { $0.state == .quarantined }
    unconfirmed = rows.count(where: \.isUnconfirmed)
    pending = rows.count(where: \.hasPendingFinish)
    buried = rows.count(where: \.isBuried)
    for lane in queuedInLane.indices {
      queuedInLane[lane] = rows.count { $0.state == .queued && $0.lane == lane }
    }
  }

  /// The content at a backup of the phone.
  struct Image {
    var rows: [Row]
    var lanes: [[Int32]]
    var boundTo: [Int32]
    var retry: RetryState
    var epoch: String?
    var adoptions: Int
  }

  var image: Image {
    Image(rows: rows, lanes: lanes, boundTo: boundTo, retry: retry, epoch: epoch, adoptions: adoptions)
  }

  func restore(_ image: Image) {
    begin(with: image.rows, lanes: image.lanes, boundTo: image.boundTo)
    (retry, epoch, adoptions, adoptionsEver) = (image.retry, image.epoch, image.adoptions, image.adoptions)
    ofImage = true
  }

  // MARK: A power cut

  /// How many commits a power cut may lose.
  var soonCommits: Int { soon.count }

  func beginSoonCommit() { soon.begin(from: image) }
  func dropSoonCommit() { soon.dropLast() }
  func allIsDurable() { soon.allAreDurable() }

  func cutPower(keeping kept: Int) {
    guard let image = soon.cut(keeping: kept) else { return }
    begin(with: image.rows, lanes: image.lanes, boundTo: image.boundTo)
    retry = image.retry
  }
}
