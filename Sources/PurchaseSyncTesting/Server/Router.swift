import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// One method of one path, and the handler of its requests.
struct Route: Sendable {
  /// What a handler gets besides the state.
  struct Call {
    var request: HTTPRequest
    /// The segment at the place of `*`; empty for a path without one.
    var parameter: String
    var now: Timestamp
    /// The store's answers, if the backend asked for them before it took the lock.
    var answers: StoreAnswers = [:]
  }

  typealias Handler = @Sendable (inout MockState, Call) throws -> HTTPResponse

  let method: String
  /// A path; `*` stands for one segment.
  let path: String
  let handle: Handler

  init(_ method: String, _ path: String, response handler: @escaping Handler) {
    self.method = method
    self.path = path
    handle = handler
  }

  /// A handler whose reply is sent as JSON with status 200.
  init<Reply: Encodable & SendableMetatype>(
    _ method: String, _ path: String, _ handler: @escaping @Sendable (inout MockState, Call) throws -> Reply
  ) {
    self.init(method, path) { try JSONBody.response(try handler(&$0, $1)) }
  }

  /// A handler that gets the decoded JSON body.
  init<Body: Decodable & SendableMetatype, Reply: Encodable & SendableMetatype>(
    _ method: String, _ path: String,
    _ handler: @escaping @Sendable (inout MockState, Body, Call) throws -> Reply
  ) {
    self.init(method, path) { state, call in
      try JSONBody.response(try handler(&state, try JSONBody.decode(Body.self, from: call.request), call))
    }
  }

  /// The parameter of a path that this route takes, or nil.
  func parameter(in path: String) -> String? {
    let parts = self.path.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return path == self.path ? "" : nil }
    guard path.count > parts[0].count + parts[1].count, path.hasPrefix(parts[0]), path.hasSuffix(parts[1])
    else { return nil }
    let rest = path.dropFirst(parts[0].count).dropLast(parts[1].count)
    return rest.contains("/") ? nil : String(rest)
  }
}

extension MockState {
  /// Answers any request. An unknown path and a request that a handler refuses get a problem document.
  mutating func answer(_ request: HTTPRequest, now: Timestamp, answers: StoreAnswers) -> HTTPResponse {
    do {
      return try route(request, now: now, answers: answers)
    } catch {
      return HTTPProblem(error).response
    }
  }

  private mutating func route(
    _ request: HTTPRequest, now: Timestamp, answers: StoreAnswers
  ) throws -> HTTPResponse {
    var allowed: [String] = []
    for route in Self.routes {
      guard let parameter = route.parameter(in: request.path) else { continue }
      if route.method == request.method {
        try Self.checkVersion(of: request)
        let call = Route.Call(request: request, parameter: parameter, now: now, answers: answers)
        if let broken, request.path == Self.uploadPath { return try broken.upload(&self, call) }
        return try route.handle(&self, call)
      }
      allowed.append(route.method)
    }
    guard !allowed.isEmpty else { throw HTTPProblem.notFound("there is nothing at this path") }
    throw HTTPProblem(
      status: 405, type: "method", title: "Method not allowed",
      headers: ["Allow": allowed.joined(separator: ", ")])
  }

  /// A request without a version counts as one of this version. The store's notifications have none.
  private static func checkVersion(of request: HTTPRequest) throws {
    guard request.path.hasPrefix("/v1/"), request.path != notificationPath,
      let said = request.headers[WireProtocol.versionField],
      said != String(WireProtocol.version)
    else { return }
    throw HTTPProblem(
      status: 426, type: ProblemDocument.protocolVersion, title: "Another version of the protocol",
      detail: "this backend speaks version \(WireProtocol.version)",
      headers: [WireProtocol.versionField: String(WireProtocol.version)])
  }

  static let routes = [
    Route("POST", "/v1/orders", response: createOrder),
    Route("GET", "/v1/orders", listOrders),
    Route("GET", "/v1/orders/*", readOrder),
    Route("PUT", "/v1/orders/*", response: registerOrder),
    Route("POST", "/v1/orders/*/cancel", cancelOrder),
    Route("POST", "/v1/orders/*/defer", deferOrder),
    Route("POST", uploadPath, upload),
    Route("POST", "/v1/adoptions", adoptDevice),
    Route("GET", "/v1/entitlements", entitlements),
    Route("POST", notificationPath, response: notify),
    Route("GET", "/openapi.json", response: openAPI),
    Route("GET", "/", response: statusPage),
    Route("GET", "/admin/state", state),
    Route("PUT", "/admin/faults", planFaults),
    Route("DELETE", "/admin/faults", dropFaults),
    Route("POST", "/admin/clock", moveClock),
    Route("POST", "/verifyReceipt", response: verifyProduction),
    Route("GET", "/verifyReceipt", response: verifyProduction),
    Route("POST", "/sandbox/verifyReceipt", response: verifySandbox),
    Route("GET", "/sandbox/verifyReceipt", response: verifySandbox),
    Route("GET", "/inApps/v1/transactions/*", transactionInfo),
    Route("GET", "/inApps/v1/history/*", transactionHistory),
    Route("GET", "/store/products", products),
    Route("POST", "/store/payments", response: pay),
    Route("GET", "/store/unfinished", unfinished),
    Route("POST", "/store/finish", finish),
    Route("POST", "/store/refunds", refund),
    Route("POST", "/store/refunds/reversals", reverseRefund),
    Route("POST", "/store/renewals", renew),
    Route("GET", "/store/receipt", receipt),
    Route("POST", "/store/receipt/refresh", refreshReceipt),
    Route("POST", "/store/sign-in", signIn),
    Route("GET", "/store/requests", requests),
    Route("POST", "/store/requests/approve", approve),
    Route("POST", "/store/requests/decline", decline),
    Route("POST", "/store/promotions", promote),
    Route("POST", "/store/offer-codes", redeem),
    Route("POST", "/store/restore", restore),
    Route("POST", "/store/accounts", setAccount),
    Route("POST", "/store/plans", changePlan),
    Route("POST", "/store/renewal-wishes", setRenewal),
    Route("POST", "/store/prices", raisePrice),
    Route("POST", "/store/price-answers", consent),
    Route("GET", "/store/notifications", notifications),
  ]
}
