package import Foundation
package import LoopbackHTTP
package import PurchaseQueue
package import PurchaseSQLite
package import PurchaseSync

/// A bug to plant into the mock backend: where it changes what the backend does. BackendConformance has a list of them.
public struct BrokenHooks: Sendable {
  package typealias Call = Route.Call
  package typealias Before = @Sendable (inout MockState, inout Call) throws -> HTTPResponse?
  package typealias Hears =
    @Sendable (inout StoreAnswer, VerificationQuery, [Claim], inout MockState, Timestamp) -> Void
  package typealias Verdicts =
    @Sendable (inout MockState, inout UploadReply, Call, Set<String>) throws -> Void
  package typealias Answers = @Sendable (inout HTTPResponse, Call, inout MockState) throws -> Void
  package typealias Race =
    @Sendable (HTTPRequest, Locked<MockState>, Timestamp, (HTTPRequest) -> HTTPResponse) -> HTTPResponse?

  /// Changes a call before it is handled, or answers it.
  let before: Before?
  /// Changes what the store says to a question of an upload. The claims are those that rest on the question.
  package let hears: Hears?
  /// Changes the answer to an upload. The ids are those of the transactions that were credited before it.
  let verdicts: Verdicts?
  /// Changes any answer, also a refusal.
  let answers: Answers?
  /// The answer to a path that does not exist.
  let unrouted: HTTPResponse?
  /// Whether every version of the protocol is taken.
  let takesAnyVersion: Bool
  /// The file in place of the given one.
  let file: (@Sendable (String) -> String)?
  /// Changes the file when the backend starts.
  let opens: (@Sendable (BackendStore) throws -> Void)?
  /// Answers a request in several steps, between which other requests come; nil if it is about another request. Blocks
  /// the thread for a while. The last argument handles a request as a single step.
  let race: Race?

  /// A hook that is nil changes nothing.
  package init(
    before: Before? = nil, hears: Hears? = nil, verdicts: Verdicts? = nil, answers: Answers? = nil,
    unrouted: HTTPResponse? = nil, takesAnyVersion: Bool = false,
    file: (@Sendable (String) -> String)? = nil, opens: (@Sendable (BackendStore) throws -> Void)? = nil,
    race: Race? = nil
  ) {
    (self.before, self.hears, self.verdicts, self.answers) = (before, hears, verdicts, answers)
    (self.unrouted, self.takesAnyVersion) = (unrouted, takesAnyVersion)
    (self.file, self.opens, self.race) = (file, opens, race)
  }
}

/// What a planted bug remembers. It ends with the process, as the bugs' memory does.
package struct BrokenMemory {
  package var count = 0
  /// Names this life of the backend.
  package let life = UUID().uuidString
  /// The texts of the proofs of each transaction.
  package var proofs: [String: Set<String>] = [:]
  /// How many requests are under way, by the key or the transaction that they are about.
  package var underWay: [String: Int] = [:]
  /// When each transaction was refunded, in milliseconds.
  package var refunds: [String: Int64] = [:]
  /// The shares of each refund, in thousandths of a percent.
  package var shares: [String: Set<Int>] = [:]
  /// How often something happened, by a name.
  package var counts: [String: Int] = [:]
  /// The account that adopted each device first.
  package var adopters: [UUID: String] = [:]
  /// The store's answers, by the bytes of the proof.
  package var answers: [String: StoreAnswer] = [:]
  /// The first transaction of each payment of a bundle.
  package var payments: [String: String] = [:]

  package mutating func next() -> Int {
    count += 1
    return count
  }
}

extension BrokenHooks {
  /// Answers a request of the wire protocol as this backend does. Other requests are handled as ever.
  func handle(_ call: Route.Call, _ mock: inout MockState, by route: Route) throws -> HTTPResponse {
    guard call.request.path.hasPrefix("/v1/") else { return try route.handle(&mock, call) }
    var call = call
    if let answer = try before?(&mock, &call) { return answer }
    let isUpload = call.request.method == "POST" && call.request.path == MockState.uploadPath
    if isUpload { listen(&mock, &call) }
    let credited = try isUpload ? Set(mock.backend.model().credits.map(\.transaction.transactionID)) : []
    var response: HTTPResponse
    do {
      response = try route.handle(&mock, call)
    } catch {
      guard answers != nil else { throw error }
      response = HTTPProblem(error).response
    }
    if isUpload, response.status == 200, let verdicts {
      var reply = try JSONDecoder().decode(UploadReply.self, from: Data(response.body))
      try verdicts(&mock, &reply, call, credited)
      response = try JSONBody.response(reply)
    }
    try answers?(&response, call, &mock)
    return response
  }

  /// Changes the file when the backend starts.
  func open(_ backend: BackendStore) throws(BackendStoreError) {
    do {
      try opens?(backend)
    } catch {
      throw error as? BackendStoreError ?? BackendStoreError(unreadable: "\(error)")
    }
  }

  /// Asks the store about an upload, and changes the answers.
  private func listen(_ mock: inout MockState, _ call: inout Route.Call) {
    guard let hears, let upload = call.request.upload else { return }
    func listen(_ query: VerificationQuery, _ claims: [Claim]) {
      var answer = mock.ask(query, answers: call.answers, now: call.now)
      hears(&answer, query, claims, &mock, call.now)
      call.answers[query] = answer
    }
    let queries = BackendModel.queries(of: upload)
    for query in queries {
      listen(query, upload.claims.filter { BackendModel.query($0, upload.proof(of: $0)) == query })
    }
    for query in BackendModel.queries(of: upload, after: call.answers) where !queries.contains(query) {
      guard case .transaction(_, let id) = query else { continue }
      listen(query, upload.claims.filter { $0.transactionID == id })
    }
  }
}

extension HTTPRequest {
  /// The claims of an upload; nil for another request, and for an unreadable body.
  package var upload: UploadRequest? {
    guard method == "POST", path == MockState.uploadPath else { return nil }
    do {
      return try JSONBody.decode(UploadRequest.self, from: self)
    } catch {
      return nil
    }
  }
}
