import Foundation
import PurchaseQueue

/// A backend with a protocol of the app's own: calls the functions of a ``PurchaseBackend``, and says what their answers
/// mean. A failure counts as the row of the article *Retries* that `BackendFailure.status` names.
///
/// Each function ends in time. A purchase whose `verify` hangs is answered as pending: it is asked about again later, and
/// the others of its upload and of its lane go on without it. Every other function that hangs fails.
struct TypedBackend: BackendPort {
  /// A function did not return in time.
  struct Late: Error {}

  let backend: any PurchaseBackend
  /// For one function, and for all that one request needs.
  private let limit, requestLimit: TimeLimit
  private let lateCalls: LateCalls
  private let now: @Sendable () -> Timestamp

  init(_ backend: any PurchaseBackend, _ configuration: SyncConfiguration, _ lateCalls: LateCalls) {
    (self.backend, self.lateCalls, now) = (backend, lateCalls, configuration.now)
    let patience = configuration.system.patience
    limit = TimeLimit(milliseconds: configuration.backendTimeLimit.wholeMilliseconds, patience: patience)
    var whole = TimeLimit(
      milliseconds: configuration.requestTimeLimit.wholeMilliseconds, patience: patience)
    whole.watch = LateCallWatch(calls: lateCalls, callback: .transport, subject: "send", now: now)
    requestLimit = whole
  }

  func upload(
    _ upload: UploadRequest, in lane: Lane, from sender: BackendSender
  ) async -> UploadClassification {
    let caller = BackendCaller(sender)
    return switch await request({ try await verdicts(of: upload, for: caller) }) {
    case .success(let reply): .verdicts(reply)
    case .failure(let failure): .failure(failure.ofUpload(by: caller).inLane(lane))
    }
  }

  func makeOrder(
    _ wish: OrderRequest, key: String, for account: AccountCredential
  ) async -> OrderAnswer<OrderDocument> {
    await ask("makeOrder", for: account) { try await $0.makeOrder(wish, idempotencyKey: key, for: $1) }
  }

  func openOrders(
    after cursor: String?, of account: AccountCredential
  ) async -> OrderAnswer<OrderListDocument> {
    await ask("openOrders", for: account) { OrderListDocument(orders: try await $0.openOrders(of: $1)) }
  }

  /// No function asks for one order. The backend is taken not to know it.
  func order(_ number: String, of account: AccountCredential) async -> OrderAnswer<OrderDocument> {
    .failure(.refused(status: 404))
  }

  func publish(
    _ notice: OrderNotice, of account: AccountCredential
  ) async -> OrderAnswer<OrderDocument?> {
    switch notice {
    case .made(let order):
      await ask("register", for: account) { backend, caller in
        try await backend.register(order, for: caller)
        return nil
      }
    case .became(let state, let number):
      await ask("order", for: account) { backend, caller in
        try await backend.order(number, became: state, for: caller)
        return nil
      }
    }
  }

  func adopt(_ device: DeviceIdentity, by account: AccountCredential) async -> AdoptionEnd {
    let caller = BackendCaller(account)
    let result = await request {
      try await call("adopt") { try await backend.adopt(device: device.id, by: caller) }
    }
    return switch result {
    case .success: .taken
    case .failure(let failure): .failed(failure.ofUpload(by: caller))
    }
  }

  // MARK: Verdicts

  /// One claim after another. A refusal is about its own claim, so the others are asked for as well. Any other failure is
  /// about the moment: the claims behind it are not asked for. If there is a verdict, it counts, and the rest is pending;
  /// the pause that the backend asks for goes with the answer. Without any verdict, the failure is the answer.
  ///
  /// A claim whose call hangs is pending, and ends the request: several that hang would take longer than a request may, and
  /// no verdict would ever arrive. The claims behind it are sent again in a second.
  func verdicts(of upload: UploadRequest, for caller: BackendCaller) async throws -> UploadReply {
    var verdicts: [ClaimVerdict] = []
    var unanswered: [(claim: Claim, failure: any Error)] = []
    let claims = sorted(upload.claims)
    for (index, claim) in claims.enumerated() {
      do {
        let (purchase, caller) = (UploadedPurchase(claim, in: upload), caller.asking(for: claim))
        let verdict = try await call(Self.verification(of: claim)) {
          try await backend.verify(purchase, for: caller)
        }
        verdicts.append(ClaimVerdict(verdict, of: claim, for: caller))
      } catch is Late {
        verdicts.append(ClaimVerdict(pending: claim, "the backend has not answered in time", for: caller))
        verdicts += claims[(index + 1)...].map {
          ClaimVerdict(.pending(reason: "not asked yet", retryAfter: .seconds(1)), of: $0, for: caller)
        }
        break
      } catch BackendFailure.refused(let reason) {
        unanswered.append((claim, BackendFailure.refused(reason: reason)))
      } catch {
        unanswered += claims[index...].map { ($0, error) }
        break
      }
    }
    if verdicts.isEmpty, let last = unanswered.last { throw last.failure }
    verdicts += unanswered.map {
      ClaimVerdict(pending: $0.claim, CallFailure.reason(of: $0.failure), for: caller)
    }
    var reply = UploadReply(ledgerEpoch: backend.ledgerEpoch, verdicts: verdicts)
    if case .busy(let pause)? = unanswered.last?.failure as? BackendFailure {
      reply.pauseMilliseconds = pause.map(CallFailure.milliseconds)
    }
    return reply
  }

  /// The claims in the sequence in which to ask. While the call for one has not returned, others come before it, the newest
  /// first: a new purchase is not held up by several that hang.
  private func sorted(_ claims: [Claim]) -> [Claim] {
    let late = Set(lateCalls.rows.filter { $0.callback == .backend }.map(\.subject))
    guard !late.isEmpty else { return claims }
    let isLate = { (claim: Claim) in late.contains(Self.verification(of: claim)) }
    return claims.filter { !isLate($0) }.sorted { $0.purchasedAt > $1.purchasedAt } + claims.filter(isLate)
  }

  private static func verification(of claim: Claim) -> String { "verify \(claim.transactionID)" }

  // MARK: Calls

  /// One function, within its time.
  private func call<Answer: Sendable>(
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

  /// One request of the engine, with all of its calls.
  private func request<Answer: Sendable>(
    _ work: @escaping @Sendable () async throws -> Answer
  ) async -> Result<Answer, CallFailure> {
    let answer = await requestLimit.answer { () async -> Result<Answer, CallFailure>? in
      let answer = await CallFailure.answer(of: work)
      if case .failure = answer, Task.isCancelled { return nil }
      return answer
    }
    switch answer {
    // The engine did not cancel it, so it counts as failed.
    case .failure(.cancelled) where !Task.isCancelled: return .failure(.failed(CallFailure.cancelled.reason))
    case let answer?: return answer
    case nil where Task.isCancelled: return .failure(.cancelled)
    case nil: return .failure(.failed("the transport gave no answer in time"))
    }
  }

  private func ask<Answer: Sendable>(
    _ function: String, for account: AccountCredential,
    _ work: @escaping @Sendable (any PurchaseBackend, BackendCaller) async throws -> Answer
  ) async -> OrderAnswer<Answer> {
    let (backend, caller) = (self.backend, BackendCaller(account))
    return await request { try await call(function) { try await work(backend, caller) } }
      .mapError(\.ofOrder)
  }
}
