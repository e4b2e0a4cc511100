package import LoopbackHTTP
package import PurchaseQueue
import PurchaseSync

/// One method of one path, and the handler of its requests.
package struct Route: Sendable {
  /// What a handler gets apart from the state.
  package struct Call {
    package var request: HTTPRequest
    /// The segment at the place of `*`; empty for a path without one.
    package var parameter: String
    package var now: Timestamp
    /// The store's answers, if the backend asked for them before it took the lock.
    package var answers: StoreAnswers = [:]

    package init(
      request: HTTPRequest, parameter: String, now: Timestamp, answers: StoreAnswers = [:]
    ) {
      (self.request, self.parameter, self.now, self.answers) = (request, parameter, now, answers)
    }
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

  /// The parameter of a path that this route takes, or nil. Several parameters have a `/` between them.
  func parameter(in path: String) -> String? {
    let parts = self.path.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count > 1 else { return path == self.path ? "" : nil }
    guard parts.count == 2 else { return parameters(in: path) }
    guard path.count > parts[0].count + parts[1].count, path.hasPrefix(parts[0]), path.hasSuffix(parts[1])
    else { return nil }
    let rest = path.dropFirst(parts[0].count).dropLast(parts[1].count)
    return rest.contains("/") ? nil : String(rest)
  }

  private func parameters(in path: String) -> String? {
    let (ours, theirs) = (self.path.split(separator: "/"), path.split(separator: "/"))
    guard ours.count == theirs.count, zip(ours, theirs).allSatisfy({ $0 == "*" || $0 == $1 }) else {
      return nil
    }
    return zip(ours, theirs).filter { $0.0 == "*" }.map(\.1).joined(separator: "/")
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
    if let unrouted = broken?.unrouted, !Self.hasPath(of: request) { return unrouted }
    let (route, parameter) = try Self.find(request)
    try checkOrigin(of: request)
    if broken?.takesAnyVersion != true { try Self.checkVersion(of: request) }
    let call = Route.Call(request: request, parameter: parameter, now: now, answers: answers)
    guard let broken else { return try route.handle(&self, call) }
    return try broken.handle(call, &self, by: route)
  }

  /// The route of a request and its parameter. Throws 404 or 405 if there is none.
  static func find(_ request: HTTPRequest) throws -> (route: Route, parameter: String) {
    // An encoded slash is a part of a segment, and no segment of these routes has one. Decoded, it would make two of one.
    let path = request.target.prefix { $0 != "?" }
    guard !path.contains("%2f"), !path.contains("%2F") else {
      throw HTTPProblem.notFound("there is nothing at this path")
    }
    var allowed: [String] = []
    for route in routes(for: request.path) {
      guard let parameter = route.parameter(in: request.path) else { continue }
      if route.method == request.method { return (route, parameter) }
      allowed.append(route.method)
    }
    guard !allowed.isEmpty else { throw HTTPProblem.notFound("there is nothing at this path") }
    throw HTTPProblem(
      status: 405, type: "method", title: "Method not allowed",
      headers: ["Allow": allowed.joined(separator: ", ")])
  }

  private static func hasPath(of request: HTTPRequest) -> Bool {
    routes(for: request.path).contains { $0.parameter(in: request.path) != nil }
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

  /// The routes that a path can be of, so that most requests are compared with half of them.
  static func routes(for path: String) -> [Route] {
    path.hasPrefix("/inApps/") || path.hasPrefix("/groups/") ? serverAPIRoutes : routes
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
    Route("GET", "/admin/transactions/*", timeline),
    Route("GET", "/admin/tables", tables),
    Route("PUT", "/admin/faults", planFaults),
    Route("DELETE", "/admin/faults", dropFaults),
    Route("POST", "/admin/clock", moveClock),
    Route("PUT", "/admin/api-limit", limitServerAPI),
    Route("DELETE", "/admin/api-limit", unlimitServerAPI),
    Route("POST", "/admin/job", response: askForJob),
    Route("POST", "/verifyReceipt", response: verifyProduction),
    Route("GET", "/verifyReceipt", response: verifyProduction),
    Route("POST", "/sandbox/verifyReceipt", response: verifySandbox),
    Route("GET", "/sandbox/verifyReceipt", response: verifySandbox),
    Route("GET", "/store/api-key", apiKey),
    Route("PUT", "/store/verify-receipt-answers", scriptVerifyReceipt),
    Route("GET", "/store/root.cer", response: rootCertificate),
    Route("POST", "/store/ocsp", response: certificateStatus),
    Route("GET", "/store/transactions/*/signed", signedProofs),
    Route("PUT", "/store/transactions/*/statement", setStatement),
    Route("GET", "/store/transactions/*/notification", signedNotification),
    Route("GET", "/store/app-transaction", appTransaction),
    Route("POST", "/store/consent-withdrawals", rescindConsent),
    Route("GET", "/store/products", products),
    Route("POST", "/store/payments", response: pay),
    Route("GET", "/store/unfinished", unfinished),
    Route("POST", "/store/finish", finish),
    Route("POST", "/store/refunds", refund),
    Route("POST", "/store/refunds/reversals", reverseRefund),
    Route("POST", "/store/bundles", sellBundleElsewhere),
    Route("POST", "/store/refunds/declines", declineRefund),
    Route("POST", "/store/refund-requests", requestRefund),
    Route("POST", "/store/seats", changeSeats),
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
    Route("PUT", "/store/notifications", setNotifications),
  ]
}
