import Foundation
import PurchaseQueue

/// Lets an engine speak to a ``PurchaseBackend``.
///
/// It answers the engine's requests as a backend of the project's protocol would, so that one table says what each answer
/// means: the article *Retries*.
public struct BackendAdapter: BackendTransport {
  let backend: any PurchaseBackend
  /// The claims of an upload in the sequence in which to ask for them.
  var sequence: @Sendable ([Claim]) -> [Claim] = { $0 }

  /// - Parameter backend: The backend. With one that makes no orders, set `orderPolicy` to `deviceOnly`.
  public init(_ backend: any PurchaseBackend) { self.backend = backend }

  /// Calls the backend, and answers with its verdicts.
  public func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    do {
      do {
        return try await answer(to: request)
      } catch let failure as BackendFailure {
        return try Self.response(to: failure, of: BackendCaller(request))
      }
    } catch  where error is CancellationError || Task.isCancelled {
      // A URL session of the app answers a cancelled task with an error of its own.
      throw TransportError(.cancelled, reason: "the task was cancelled")
    } catch {
      throw TransportError(reason: Self.reason(of: error))
    }
  }

  /// Not its description: that may hold a token or a receipt.
  private static func reason(of error: any Error) -> String { "the backend failed with \(type(of: error))" }

  private func answer(to request: BackendRequest) async throws -> BackendResponse {
    let caller = BackendCaller(request)
    let path = (request.path.split(separator: "?").first ?? "").split(separator: "/").map(String.init)
    switch (request.method, path.dropFirst().first ?? "", path.count) {
    case ("POST", "receipts", 2): return try await verify(request, for: caller)
    case ("POST", "orders", 2):
      let key = request.headers["Idempotency-Key"] ?? ""
      return try Self.json(
        try await backend.makeOrder(try Self.read(request), idempotencyKey: key, for: caller))
    case ("GET", "orders", 2):
      return try Self.json(OrderListDocument(orders: try await backend.openOrders(of: caller)))
    case ("PUT", "orders", 3):
      let order: DeviceOrder = try Self.read(request)
      try await backend.register(order, for: caller)
      return try Self.json(OrderDocument(order))
    case ("POST", "orders", 4):
      let number = path[2].removingPercentEncoding ?? path[2]
      let state: OrderState = path[3] == "defer" ? .deferred : .cancelled
      try await backend.order(number, became: state, for: caller)
      return try Self.json(OrderDocument(heard: number, state))
    case ("POST", "adoptions", 2):
      let document: AdoptionDocument = try Self.read(request)
      try await backend.adopt(device: document.device, by: caller)
      return try Self.json(document)
    default: return try Self.problem(404, "this backend does not answer that")
    }
  }

  /// One claim after another. A refusal is about its own claim, so the others are asked for as well. Any other failure is
  /// about the moment: the claims behind it are not asked for. If there is a verdict, it counts, and the rest is pending;
  /// the pause that the backend asks for goes with the answer. Without any verdict, the failure is the answer.
  ///
  /// A claim whose call hangs is pending, and ends the request: several that hang would take longer than a request may, and
  /// no verdict would ever arrive. The claims behind it are sent again in a second.
  private func verify(_ request: BackendRequest, for caller: BackendCaller) async throws -> BackendResponse {
    let upload: UploadRequest = try Self.read(request)
    var verdicts: [ClaimVerdict] = []
    var unanswered: [(claim: Claim, failure: any Error)] = []
    let claims = sequence(upload.claims)
    for (index, claim) in claims.enumerated() {
      do {
        let caller = caller.asking(for: claim)
        let verdict = try await backend.verify(UploadedPurchase(claim, in: upload), for: caller)
        verdicts.append(ClaimVerdict(verdict, of: claim, for: caller))
      } catch is TimedBackend.Late {
        verdicts.append(ClaimVerdict(pending: claim, "the backend has not answered in time", for: caller))
        verdicts += claims[(index + 1)...].map {
          ClaimVerdict(.pending(reason: "not asked yet", retryAfter: .seconds(1)), of: $0, for: caller)
        }
        break
      } catch let refusal as BackendFailure where refusal.isAboutOneClaim {
        unanswered.append((claim, refusal))
      } catch {
        unanswered += claims[index...].map { ($0, error) }
        break
      }
    }
    if verdicts.isEmpty, let last = unanswered.last { throw last.failure }
    verdicts += unanswered.map { ClaimVerdict(pending: $0.claim, Self.reason(of: $0.failure), for: caller) }
    var response = try Self.json(UploadReply(ledgerEpoch: backend.ledgerEpoch, verdicts: verdicts))
    if case .busy(let pause)? = unanswered.last?.failure as? BackendFailure {
      response.retryAfter = Self.retryAfter(pause)
    }
    return response
  }

  private static func read<Document: Decodable>(_ request: BackendRequest) throws -> Document {
    try JSONDecoder().decode(Document.self, from: request.body)
  }

  private static func json(_ document: some Encodable) throws -> BackendResponse {
    BackendResponse(status: 200, contentType: "application/json", body: try JSONEncoder().encode(document))
  }

  private static func response(
    to failure: BackendFailure, of caller: BackendCaller
  ) throws -> BackendResponse {
    switch failure {
    // The device sends in its own name, and the account's token is refused.
    case .tokenRefused where caller.account != nil && !caller.isBuyer:
      return try problem(403, "the token of the signed-in account is refused", type: ProblemDocument.account)
    case .tokenRefused: return BackendResponse(status: 401, body: Data())
    case .refused(let reason): return try problem(422, reason)
    case .busy(let pause): return BackendResponse(status: 503, retryAfter: retryAfter(pause), body: Data())
    }
  }

  /// In whole seconds, as the header field has it. Never shorter than the pause.
  private static func retryAfter(_ pause: Duration?) -> String? {
    pause.map { "\((min(max(0, $0.wholeMilliseconds), longestPause) + 999) / 1_000)" }
  }

  /// A year in milliseconds. The engine waits a day at most.
  private static var longestPause: Int64 { 365 * 86_400_000 }

  private static func problem(
    _ status: Int, _ title: String, type: String = "about:blank"
  ) throws -> BackendResponse {
    let document = ProblemDocument(type: type, title: title, status: status)
    var response = try json(document)
    (response.status, response.contentType) = (status, "application/problem+json")
    return response
  }
}

extension BackendCaller {
  /// What the device sends in its own name has the credential of the account that is signed in next to its own.
  fileprivate init(_ request: BackendRequest) {
    let headers = request.headers
    let value = headers[BackendRequest.signedInHeader] ?? headers["Authorization"]
    let parts = (value ?? "").split(separator: " ", maxSplits: 1)
    self.init(
      account: request.account ?? request.signedIn, isBuyer: request.account != nil,
      token: parts.count == 2 ? String(parts[1]) : "")
  }
}

extension BackendCaller {
  /// The account of a claim that only the app's ``UnclaimedPolicy`` names is not known to have bought.
  fileprivate func asking(for claim: Claim) -> BackendCaller {
    let evidence = claim.evidence?.split(separator: ",") ?? []
    guard evidence.contains(where: { $0 == MatchEvidence.ownerSignedIn.rawValue }) else { return self }
    var caller = self
    caller.isBuyer = false
    return caller
  }
}

extension OrderDocument {
  fileprivate init(_ order: DeviceOrder) {
    self.init(
      number: order.number, accountToken: order.accountToken, productID: order.productID,
      quantity: order.quantity, state: order.state, createdAt: order.createdAt)
  }

  /// An answer that says no more than that the backend has received it. The engine reads nothing else of it.
  fileprivate init(heard number: String, _ state: OrderState) {
    self.init(
      number: number, accountToken: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
      productID: "", quantity: 1, state: state,
      createdAt: Timestamp(milliseconds: 0))
  }
}

extension BackendFailure {
  /// Whether it says nothing about other purchases.
  fileprivate var isAboutOneClaim: Bool { if case .refused = self { true } else { false } }
}

extension ClaimVerdict {
  /// The backend gave no verdict about the claim: it is sent again.
  fileprivate init(pending claim: Claim, _ reason: String, for caller: BackendCaller) {
    self.init(.pending(reason: reason), of: claim, for: caller)
  }

  fileprivate init(_ verdict: BackendVerdict, of claim: Claim, for caller: BackendCaller) {
    self.init(environment: claim.environment, transactionID: claim.transactionID, verdict: .pending)
    owner = caller.account == nil ? .device : .yours
    orderNumber = claim.orderNumber
    switch verdict {
    case .granted, .duplicate:
      self.verdict = verdict == .granted ? .granted : .duplicate
      // The backend leaves it to the device which of the account's orders was paid: the most likely one.
      if caller.isBuyer, orderNumber == nil { orderNumber = claim.candidates?.first }
    case .lapsed: self.verdict = .lapsed
    case .refunded: self.verdict = .refunded
    case .belongsToAnother: (self.verdict, owner) = (.otherOwner, .another)
    case .pending(let reason, let pause):
      self.reason = reason
      retryAfter = pause.map { Double($0.wholeMilliseconds) / 1_000 }
      owner = nil
    case .rejected(let reason): (self.verdict, self.reason, owner) = (.rejected, reason, nil)
    }
  }
}
