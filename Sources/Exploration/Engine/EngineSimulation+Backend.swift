import Foundation
import PurchaseQueue
import PurchaseSync
import Specification

/// The lean backend behind the wire protocol.
extension EngineSimulation {
  func handle(_ request: BackendRequest, _ process: EngineProcess) throws -> BackendResponse {
    let authorization = request.headers["Authorization"] ?? ""
    let account = Self.account(authorization)
    let signedIn = Self.account(request.headers[BackendRequest.signedInHeader] ?? "")
    // An account that signs out on the first phone stays signed in on another one.
    let signedOut = process.phone == nil ? signedOut : []
    let device = device(of: request, process)
    if let account, signedOut.contains(account) || isTempted(by: .callsBack) && process.phone == nil {
      return BackendResponse(status: 401, body: Data())
    }
    switch (request.method, request.path) {
    case ("POST", "v1/orders"): return try makeOrder(request, for: account ?? "")
    case ("PUT", _): return try register(request, account ?? "")
    case ("POST", _) where request.path.hasPrefix("v1/orders/"): return try note(request, account ?? "")
    case ("POST", "v1/receipts"):
      return try rule(
        on: request, account, signedIn.flatMap { signedOut.contains($0) ? nil : $0 }, device ?? 0,
        process.phone)
    case ("POST", "v1/adoptions"):
      guard let signedIn, !signedOut.contains(signedIn) else {
        return BackendResponse(status: 401, body: Data())
      }
      backend.adoptDevice(device ?? 0, for: Names.account(signedIn), at: now.milliseconds)
      protocolWatch?.take(.adopted(device: device ?? 0, by: Names.account(signedIn)))
      checker.mark(.adoptionTaken)
      checkBuyers()
      return json(200, request.body)
    case ("GET", _) where request.path.hasPrefix("v1/orders/"): return try order(request)
    default: return try openOrders(of: account ?? "")
    }
  }

  static func account(_ authorization: String) -> String? {
    authorization.hasPrefix("Bearer token-") ? String(authorization.dropFirst(13)) : nil
  }

  private func json(_ status: Int, _ body: Data) -> BackendResponse {
    BackendResponse(status: status, contentType: "application/json", body: body)
  }

  // MARK: Orders

  private func makeOrder(_ request: BackendRequest, for account: String) throws -> BackendResponse {
    let wanted = try JSONDecoder().decode(OrderRequest.self, from: request.body)
    let key = request.headers["Idempotency-Key"] ?? ""
    let product = Names.products.firstIndex(of: wanted.productID) ?? 0
    let number =
      orderOfKey[key]
      ?? backend.makeOrder(account: Names.account(account), product: product, at: now.milliseconds)
    orderOfKey[key] = number
    return json(201, try JSONEncoder().encode(document(number)))
  }

  private func document(_ number: Int) -> OrderDocument {
    let order = backend.orders[number]
    return OrderDocument(
      number: String(number + 1), accountToken: Names.token(number), productID: Names.products[order.product],
      quantity: Names.units(of: order.product), state: order.fulfilledBy == nil ? .open : .delivered,
      createdAt: Timestamp(milliseconds: order.createdAt))
  }

  private func order(_ request: BackendRequest) throws -> BackendResponse {
    let number = slot(of: String(request.path.dropFirst("v1/orders/".count)))
    guard backend.orders.indices.contains(number) else { return json(404, Data()) }
    var document = document(number)
    document.number = self.number(of: number)
    document.accountToken = store.tokens[number] ?? document.accountToken
    return json(200, try JSONEncoder().encode(document))
  }

  private func openOrders(of account: String) throws -> BackendResponse {
    let open = backend.orders.indices.filter {
      backend.orders[$0].account == Names.account(account) && backend.orders[$0].fulfilledBy == nil
        && store.tokens[$0] == nil
    }
    return json(200, try JSONEncoder().encode(["orders": open.map(document)]))
  }

  // MARK: Verdicts

  private func rule(
    on request: BackendRequest, _ account: String?, _ signedIn: String?, _ device: Int, _ phone: EnginePhone?
  ) throws -> BackendResponse {
    let upload = try JSONDecoder().decode(UploadRequest.self, from: request.body)
    let uploader = account.map(Names.account) ?? LeanBackend.device(device)
    var verdicts: [ClaimVerdict] = []
    for order in upload.claims.compactMap(\.order) where order.account == account {
      registered.insert(slot(of: order))
    }
    watchArrival()
    let present = account == nil ? signedIn.map(Names.account) ?? -1 : -1
    for claim in upload.claims {
      verdicts.append(
        rule(on: claim, upload.proof(of: claim), from: uploader, present, phone))
    }
    checkBuyers()
    watchAnswer(verdicts)
    return json(200, try JSONEncoder().encode(UploadReply(ledgerEpoch: epochOfReply, verdicts: verdicts)))
  }

  /// A receipt shows no account token.
  private func rule(
    on claim: Claim, _ proof: ProofDocument?, from uploader: Int, _ signedIn: Int, _ phone: EnginePhone?
  ) -> ClaimVerdict {
    let sale = Names.order(claim.transactionID)
    var told = ClaimVerdict(
      environment: claim.environment, transactionID: claim.transactionID, verdict: .pending)
    guard store.sales.indices.contains(sale) else {
      checker.broken(.noGhosts, "transaction \(claim.transactionID) was never bought")
      return told
    }
    if !isHealed, network.chance(knobs.network / 4) {
      if network.chance(300) {
        told.verdict = .unknownTransaction
        return told
      }
      told.retryAfter = network.chance(500) ? 5 : nil
      return told
    }
    if isOfEndedChain(proof, sale, phone) {
      told.verdict = .unknownTransaction
      return told
    }
    let match: LeanBackend.LeanClaim.Match =
      switch claim.match {
      case .bound: .bound(slot(of: claim.orderNumber ?? ""))
      case .proposed: .proposed((claim.candidates ?? []).map(Names.order))
      default: .none
      }
    if case .bound(let order) = match, !isKnown(order) {
      (told.verdict, told.reason) = (.rejected, "there is no such order")
      return told
    }
    guessID(of: sale)
    let before = backend.count(of: sale)
    let answer = self.answer(
      on: LeanBackend.LeanClaim(sale: sale, match: match), tokenIsTold: proof?.kind != .appReceipt,
      isProven: proof != nil, from: uploader, signedIn: signedIn)
    if let phone {
      noted(answer, about: sale, from: uploader, signedIn, phone)
    } else {
      noted(answer, about: sale, from: uploader, signedIn)
    }
    checkCredit(sale, before: before)
    told.orderNumber = answer.order.flatMap { isKnown($0) ? number(of: $0) : nil }
    told.verdict = answer.ruling.verdict
    told.owner = answer.owner
    backend.sayRefund(of: sale, in: &told, store)
    return told
  }

  /// A backend cannot name an order that a device made and has not reported yet.
  private func isKnown(_ order: Int) -> Bool { store.tokens[order] == nil || registered.contains(order) }

  private func checkCredit(_ sale: Int, before: Int) {
    let count = backend.count(of: sale)
    checker.expect(.oneCredit, count <= 1, "\(Names.id(sale)) is credited \(count) times")
    guard count > before, let credit = backend.credits.last, let order = credit.order else { return }
    checker.expect(
      .ownName, credit.owner == backend.orders[order].account,
      "\(Names.id(sale)) is credited to another account than its order's")
    let own = store.sales[sale].order
    checker.expect(
      .binding, own < 0 || own == order, "\(Names.id(sale)) fulfils order \(order + 1), not its own")
  }
}
