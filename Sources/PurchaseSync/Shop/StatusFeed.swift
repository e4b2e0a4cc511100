import PurchaseQueue

/// Decides when the shop looks at its engine for a status, and what its readers get. Without I/O: the shop looks, and
/// sends what this says.
///
/// ```
/// idle ──changed, if there is a reader──▶ looking ──changed──▶ outdated
/// idle ◀───────────looked──────────────── looking ◀───looked─── outdated
/// ```
///
/// Many changes in a row are one look. A status that equals the one before is not published.
struct StatusFeed<Reader: Sendable>: Sendable {
  private enum Look { case idle, looking, outdated }

  private(set) var lastPublished: ShopStatus?
  /// Why the file cannot be used, and why the last confirmation failed.
  var fileProblem: SyncError?
  var confirmationProblem: SyncError?
  private var readers: [Int: Reader] = [:]
  private var nextReader = 0
  private var look = Look.idle

  // MARK: Readers

  mutating func add(_ reader: Reader) -> Int {
    nextReader += 1
    readers[nextReader] = reader
    return nextReader
  }

  mutating func remove(_ number: Int) { readers[number] = nil }

  /// In the order in which they came.
  var allReaders: [Reader] { readers.keys.sorted().compactMap { readers[$0] } }

  // MARK: Looks

  /// Something has changed. True if a look begins.
  mutating func changed() -> Bool {
    guard !readers.isEmpty else { return false }
    guard case .idle = look else {
      look = .outdated
      return false
    }
    look = .looking
    return true
  }

  /// A look has ended; without a status in the background, and while the file is being opened.
  ///
  /// - Returns: What is published, and whether the next look begins.
  mutating func looked(_ status: ShopStatus?) -> (published: ShopStatus?, looksAgain: Bool) {
    let looksAgain = if case .outdated = look { !readers.isEmpty } else { false }
    look = looksAgain ? .looking : .idle
    guard let status, status != lastPublished else { return (nil, looksAgain) }
    lastPublished = status
    return (status, looksAgain)
  }

  /// The status of what the engine has said, or of what it said last, with what the shop itself knows.
  ///
  /// - Parameter late: Calls of `fulfil` and sheets, which the engine does not see.
  func status(_ engine: ShopStatus?, fulfilmentProblem: String?, late: [LateCall]) -> ShopStatus {
    var status = engine ?? lastPublished ?? ShopStatus()
    status.problem = fileProblem ?? confirmationProblem
    let firstLate = late.first { $0.callback == .fulfil }
    status.fulfilmentProblem =
      fulfilmentProblem ?? firstLate.map { "fulfil has not returned for \($0.subject)" }
    let others = status.lateCalls.filter { $0.callback != .fulfil && $0.callback != .sheet }
    status.lateCalls = late.sorted { ($0.since, $0.subject) < ($1.since, $1.subject) } + others
    return status
  }
}
