import AppStoreReceipts
import Foundation
import LoopbackHTTP

/// `verifyReceipt`: `/verifyReceipt` stands for the production host, `/sandbox/verifyReceipt` for the sandbox's.
extension WorldState {
  /// "The body limit is 3,145,728 bytes" (receipt-facts.md a.1).
  static let verifyReceiptLimit = 3 << 20

  static func verifyProduction(
    _ world: inout WorldState, _ call: Route.Call
  ) throws(HTTPProblem) -> HTTPResponse {
    try verifyReceipt(&world, call, host: .production)
  }

  static func verifySandbox(_ world: inout WorldState, _ call: Route.Call) throws(HTTPProblem) -> HTTPResponse
  {
    try verifyReceipt(&world, call, host: .sandbox)
  }

  /// 200 whatever the status in the body, and no Content-Type, as the store does (a.1).
  private static func verifyReceipt(
    _ world: inout WorldState, _ call: Route.Call, host: StoreEnvironment
  ) throws(HTTPProblem) -> HTTPResponse {
    guard call.request.body.count <= verifyReceiptLimit else {
      throw HTTPProblem(status: 413, type: "too-large", title: "The request is too large")
    }
    guard call.request.method == "POST" else {
      return HTTPResponse(status: 200, body: Array(#"{"status":21000}"#.utf8))
    }
    let answer = world.store.verifyReceipt(body: Data(call.request.body), host: host, now: call.now)
    return HTTPResponse(status: 200, body: Array(answer.text.utf8))
  }
}
