import PurchaseQueue

/// Assigns the verdicts of a reply to the claims. A reply can have any content, so this is a type of its own.
struct UploadAnswer {
  /// The claimed entries in their order.
  let sent: [Entry]
  /// The first verdict about each claim.
  private(set) var verdicts: [ClaimVerdict?]
  /// The faults of the reply, for the app.
  private(set) var faults: [String] = []
  /// The account whose credential came with the upload, next to the device's.
  let presented: String?

  /// A verdict about a transaction that was not claimed is ignored. The first of two verdicts about one claim counts. A
  /// reply may have thousands of both: the faults of one reply stay about as many as its claims.
  init(to sent: [Entry], _ all: [ClaimVerdict], presented: String? = nil) {
    self.sent = sent
    self.presented = presented
    verdicts = Array(repeating: nil, count: sent.count)
    var (answered, foreign) = (0, 0)
    var contradicted: Set<Int> = []
    for position in all.indices {
      guard let index = Self.claim(about: all[position], in: sent, near: position) else {
        foreign += 1
        continue
      }
      if let first = verdicts[index] {
        if first != all[position] { contradicted.insert(index) }
        continue
      }
      verdicts[index] = all[position]
      answered += 1
    }
    let reported = min(foreign, Self.mostForeign)
    faults += Array(repeating: "a verdict about a transaction that was not claimed", count: reported)
    if foreign > reported {
      faults.append("\(foreign - reported) more verdicts about transactions that were not claimed")
    }
    faults += contradicted.sorted().map { "contradicting verdicts about \(sent[$0].key)" }
    if answered < sent.count {
      faults.append("\(sent.count - answered) of \(sent.count) claims were not answered")
    }
  }

  /// The verdicts about other transactions that are reported one by one.
  private static var mostForeign: Int { 8 }

  /// Whether the claim has a verdict that settles it.
  func isSettled(_ index: Int) -> Bool { verdicts[index]?.verdict.isSettled ?? false }

  /// The longest wait that it asks for, in milliseconds.
  var longestWait: Int64? { verdicts.compactMap { $0?.waitMilliseconds }.max() }

  /// Most backends answer in the order of the claims.
  private static func claim(about verdict: borrowing ClaimVerdict, in sent: [Entry], near position: Int)
    -> Int?
  {
    let (environment, transactionID) = (verdict.environment, verdict.transactionID)
    func isAbout(_ index: Int) -> Bool {
      sent[index].key.isNamed(environment: environment, transactionID: transactionID)
    }
    if position < sent.count, isAbout(position) { return position }
    return sent.indices.first(where: isAbout)
  }
}

extension ClaimVerdict {
  /// The verdict's Retry-After in milliseconds; nil if there is none.
  var waitMilliseconds: Int64? { retryAfter.flatMap(RetryAfterField.milliseconds(seconds:)) }
}

/// Names on the wire have no date, keys have one where the store's ids restart: `environment/id@milliseconds`.
extension EntryKey {
  private static var at: UInt8 { UInt8(ascii: "@") }

  /// Whether something follows the id.
  var hasDate: Bool { rawValue.utf8.contains(Self.at) }

  func hasSameWireName(as other: EntryKey) -> Bool {
    rawValue.utf8.prefix { $0 != Self.at }.elementsEqual(other.rawValue.utf8.prefix { $0 != Self.at })
  }

  /// Whether it is of this environment and id, whatever its date. Compared byte by byte: texts from outside.
  func isNamed(environment: String, transactionID: String) -> Bool {
    var bytes = rawValue.utf8.makeIterator()
    for byte in environment.utf8 where bytes.next() != byte { return false }
    guard bytes.next() == UInt8(ascii: "/") else { return false }
    for byte in transactionID.utf8 where bytes.next() != byte { return false }
    guard let rest = bytes.next() else { return true }
    return rest == Self.at
  }
}
