import Foundation
import PurchaseQueue

/// Makes the functions of a backend end in time.
///
/// A purchase whose `verify` hangs is answered as pending: it is asked about again later, and the others of its upload and
/// of its lane go on without it (`BackendAdapter`). Every other function that hangs fails.
struct TimedBackend: PurchaseBackend {
  /// A function did not return in time.
  struct Late: Error {}

  let backend: any PurchaseBackend
  let limit: TimeLimit
  let lateCalls: LateCalls
  let now: @Sendable () -> Timestamp

  var makesOrders: Bool { backend.makesOrders }
  var ledgerEpoch: String { backend.ledgerEpoch }

  func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
    let backend = self.backend
    return try await answer(Self.verification(of: purchase.transactionID)) {
      try await backend.verify(purchase, for: owner)
    }
  }

  private static func verification(of transactionID: String) -> String { "verify \(transactionID)" }

  /// The claims in the sequence in which to ask. While the call for one has not returned, others come before it, the newest
  /// first: a new purchase is not held up by several that hang.
  func sorted(_ claims: [Claim]) -> [Claim] {
    let late = Set(lateCalls.rows.filter { $0.callback == .backend }.map(\.subject))
    guard !late.isEmpty else { return claims }
    let isLate = { (claim: Claim) in late.contains(Self.verification(of: claim.transactionID)) }
    return claims.filter { !isLate($0) }.sorted { $0.purchasedAt > $1.purchasedAt } + claims.filter(isLate)
  }

  func makeOrder(
    _ wish: OrderRequest, idempotencyKey: String, for account: BackendCaller
  ) async throws -> OrderDocument {
    let backend = self.backend
    return try await answer("makeOrder") {
      try await backend.makeOrder(wish, idempotencyKey: idempotencyKey, for: account)
    }
  }

  func register(_ order: DeviceOrder, for account: BackendCaller) async throws {
    let backend = self.backend
    try await answer("register") { try await backend.register(order, for: account) }
  }

  func order(_ number: String, became state: OrderState, for account: BackendCaller) async throws {
    let backend = self.backend
    try await answer("order") { try await backend.order(number, became: state, for: account) }
  }

  func openOrders(of account: BackendCaller) async throws -> [OrderDocument] {
    let backend = self.backend
    return try await answer("openOrders") { try await backend.openOrders(of: account) }
  }

  func adopt(device: UUID, by account: BackendCaller) async throws {
    let backend = self.backend
    try await answer("adopt") { try await backend.adopt(device: device, by: account) }
  }

  private func answer<Answer: Sendable>(
    _ function: String, _ work: @escaping @Sendable () async throws -> Answer
  ) async throws -> Answer {
    var limit = self.limit
    limit.watch = LateCallWatch(calls: lateCalls, callback: .backend, subject: function, now: now)
    let answer = await limit.answer { () async -> Result<Answer, any Error>? in
      do {
        return .success(try await work())
      } catch {
        // One that ends because it was left behind has not returned.
        return Task.isCancelled ? nil : .failure(error)
      }
    }
    try Task.checkCancellation()
    guard let answer else { throw Late() }
    return try answer.get()
  }
}

extension BackendAdapter {
  /// The adapter with the time limit of a configuration.
  func timed(_ configuration: SyncConfiguration, _ lateCalls: LateCalls) -> BackendAdapter {
    let limit = TimeLimit(
      milliseconds: configuration.backendTimeLimit.wholeMilliseconds, patience: configuration.system.patience)
    let backend = TimedBackend(
      backend: backend, limit: limit, lateCalls: lateCalls, now: configuration.now)
    var adapter = BackendAdapter(backend)
    adapter.sequence = backend.sorted
    return adapter
  }
}
