import LoopbackHTTP
import PurchaseQueue

/// One method of one path.
struct Route {
  /// What a handler gets: the request, the parameter at the end of the path, and the time.
  struct Call {
    var request: HTTPRequest
    /// What stands in the place of `*`; empty without one.
    var parameter: String
    var now: Timestamp
    /// What the store said already, where it was asked before the lock was taken.
    var answers: StoreAnswers = [:]
  }

  var method: String
  /// A path; `*` at its end stands for one segment.
  var path: String
  var handle: (inout WorldState, Call) throws(HTTPProblem) -> HTTPResponse

  func parameter(in path: String) -> String? {
    guard self.path.hasSuffix("*") else { return path == self.path ? "" : nil }
    let prefix = self.path.dropLast()
    guard path.hasPrefix(prefix) else { return nil }
    let rest = path.dropFirst(prefix.count)
    return rest.isEmpty || rest.contains("/") ? nil : String(rest)
  }
}

extension WorldState {
  /// Answers any request; what no route takes or understands is a problem document.
  mutating func answer(_ request: HTTPRequest, now: Timestamp, answers: StoreAnswers) -> HTTPResponse {
    do throws(HTTPProblem) {
      return try route(request, now: now, answers: answers)
    } catch {
      return error.response
    }
  }

  private mutating func route(
    _ request: HTTPRequest, now: Timestamp, answers: StoreAnswers
  ) throws(HTTPProblem) -> HTTPResponse {
    var allowed: [String] = []
    for route in Self.routes {
      guard let parameter = route.parameter(in: request.path) else { continue }
      if route.method == request.method {
        let call = Route.Call(request: request, parameter: parameter, now: now, answers: answers)
        if let broken, call.request.path == Self.uploadPath { return try broken.upload(&self, call) }
        return try route.handle(&self, call)
      }
      allowed.append(route.method)
    }
    guard !allowed.isEmpty else { throw .notFound("there is nothing at this path") }
    throw HTTPProblem(
      status: 405, type: "method", title: "Method not allowed",
      headers: ["Allow": allowed.joined(separator: ", ")])
  }

  static var routes: [Route] {
    [
      Route(method: "POST", path: "/v1/orders", handle: createOrder),
      Route(method: "GET", path: "/v1/orders", handle: listOrders),
      Route(method: "GET", path: "/v1/orders/*", handle: readOrder),
      Route(method: "POST", path: "/v1/receipts", handle: upload),
      Route(method: "POST", path: "/v1/claims", handle: claimDevice),
      Route(method: "GET", path: "/v1/entitlements", handle: entitlements),
      Route(method: "POST", path: "/v1/notifications/appstore", handle: notify),
      Route(method: "GET", path: "/openapi.json", handle: openAPI),
      Route(method: "GET", path: "/", handle: statusPage),
      Route(method: "GET", path: "/admin/state", handle: state),
      Route(method: "PUT", path: "/admin/faults", handle: planFaults),
      Route(method: "DELETE", path: "/admin/faults", handle: dropFaults),
      Route(method: "POST", path: "/admin/clock", handle: moveClock),
    ] + storeRoutes
  }
}
