import Foundation

/// The parameters of a server.
struct Behaviour: Sendable {
  let limits: HTTPLimits
  let admit: (@Sendable (HTTPRequest) -> HTTPAdmission)?
  /// The bytes that are left of `HTTPLimits.bodyBudget`.
  let budget: BodyBudget
  let fault: (@Sendable (HTTPRequest) -> Fault?)?
  let handler: @Sendable (HTTPRequest) -> HTTPResponse

  /// Calls the handler; on Darwin its autoreleased objects must not live as long as the connection.
  func answer(_ request: HTTPRequest) -> HTTPResponse {
    #if canImport(ObjectiveC)
      return autoreleasepool { handler(request) }
    #else
      return handler(request)
    #endif
  }
}
