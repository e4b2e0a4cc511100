import AppStoreReceipts
import Foundation

/// What most checks expect.
extension ConformanceLab {
  /// Runs `body`; throws unless the account has this many more of the product after it.
  @discardableResult
  nonisolated func gaining<R: Sendable>(
    _ more: Int64, of product: String? = nil, by caller: Caller = .alice,
    _ body: @Sendable () async throws -> R
  ) async throws -> R {
    let before = try await held(by: caller, of: product)
    let result = try await body()
    let after = try await held(by: caller, of: product)
    try expect(
      after == before + more, "\(more == 0 ? "nothing" : "\(more)") more for the account: \(before + more)")
    return result
  }

  /// Uploads a payment with its own proof until its verdict is not `pending`; throws unless it is one of these.
  @discardableResult
  func settle(
    _ paid: Paid, order: String? = nil, as caller: Caller = .alice, device: UUID = UUID(),
    to words: String...
  ) async throws -> String {
    let word = try await settled(paid, order: order, as: caller, device: device)
    try expect(words.contains(word), words.joined(separator: ", or "))
    return word
  }

  /// The same of a claim for one of these orders, the likeliest first.
  func settle(
    _ paid: Paid, proposing orders: [MadeOrder], as caller: Caller = .alice, device: UUID = UUID(),
    to words: String...
  ) async throws {
    let word = try await settled(
      Self.proposal(paid, orders), paid.transactionID, proof: Self.signed(paid), as: caller, device: device)
    try expect(words.contains(word), words.joined(separator: ", or "))
  }

  /// Throws unless the order of the caller is in this state.
  func expectState(_ state: String, of order: String, as caller: Caller = .alice) async throws {
    let found = try await self.state(of: order, as: caller)
    try expect(found == state, "the state \(state) of the order")
  }

  /// The newest answer about a claim, as the device gets it.
  func told(_ reply: Reply, about id: String) throws -> JSONValue {
    let verdicts = reply.json?["verdicts"]?.array ?? []
    guard let told = verdicts.first(where: { $0["transactionID"]?.string == id }) else {
      throw ConformanceFailure("a verdict about each claim")
    }
    return told
  }

  /// The members that are there: null and absent mean the same.
  static func present(_ value: JSONValue?, _ name: String) -> JSONValue? {
    value?[name].flatMap { $0 == .null ? nil : $0 }
  }
}
