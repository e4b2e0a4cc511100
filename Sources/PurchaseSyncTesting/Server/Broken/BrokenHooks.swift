import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// Where a planted bug changes what the mock backend does. A hook that is nil changes nothing.
struct BrokenHooks: Sendable {
  typealias Call = Route.Call

  /// Changes a call before it is handled, or answers it.
  var before: (@Sendable (inout MockState, inout Call) throws -> HTTPResponse?)?
  /// Changes what the store says to a question of an upload. The claims are those that rest on the question.
  var hears: (@Sendable (inout StoreAnswer, VerificationQuery, [Claim], inout MockState, Timestamp) -> Void)?
  /// Changes the answer to an upload. The ids are those of the transactions that were credited before it.
  var verdicts: (@Sendable (inout MockState, inout UploadReply, Call, Set<String>) throws -> Void)?
  /// Changes any answer, also a refusal.
  var answers: (@Sendable (inout HTTPResponse, Call, inout MockState) throws -> Void)?
  /// The answer to a path that does not exist.
  var unrouted: HTTPResponse?
  /// Whether every version of the protocol is taken.
  var takesAnyVersion = false
  /// The file in place of the given one.
  var file: (@Sendable (String) -> String)?
  /// Changes the file when the backend starts.
  var opens: (@Sendable (BackendStore) throws -> Void)?
}

/// What a planted bug remembers. It ends with the process, as the bugs' memory does.
struct BrokenMemory {
  var count = 0
  /// Names this life of the backend.
  let life = UUID().uuidString
  /// The texts of the proofs of each transaction.
  var proofs: [String: Set<String>] = [:]
  /// How many requests are under way, by the key or the transaction that they are about.
  var underWay: [String: Int] = [:]
  /// When each transaction was refunded, in milliseconds.
  var refunds: [String: Int64] = [:]

  mutating func next() -> Int {
    count += 1
    return count
  }
}

extension BrokenBackend {
  /// Answers a request of the wire protocol as this backend does. Other requests are handled as ever.
  func handle(_ call: Route.Call, _ mock: inout MockState, by route: Route) throws -> HTTPResponse {
    guard call.request.path.hasPrefix("/v1/") else { return try route.handle(&mock, call) }
    var call = call
    if let answer = try hooks.before?(&mock, &call) { return answer }
    let isUpload = call.request.method == "POST" && call.request.path == MockState.uploadPath
    if isUpload { listen(&mock, &call) }
    let credited = try isUpload ? Set(mock.backend.model().credits.map(\.transaction.transactionID)) : []
    var response: HTTPResponse
    do {
      response = try route.handle(&mock, call)
    } catch {
      guard hooks.answers != nil else { throw error }
      response = HTTPProblem(error).response
    }
    if isUpload, response.status == 200, let verdicts = hooks.verdicts {
      var reply = try JSONDecoder().decode(UploadReply.self, from: Data(response.body))
      try verdicts(&mock, &reply, call, credited)
      response = try JSONBody.response(reply)
    }
    try hooks.answers?(&response, call, &mock)
    return response
  }

  /// Changes the file when the backend starts.
  func open(_ backend: BackendStore) throws(BackendStoreError) {
    do {
      try hooks.opens?(backend)
    } catch {
      throw error as? BackendStoreError ?? BackendStoreError(unreadable: "\(error)")
    }
  }

  /// Asks the store about an upload, and changes the answers.
  private func listen(_ mock: inout MockState, _ call: inout Route.Call) {
    guard let hears = hooks.hears, let upload = Self.upload(in: call) else { return }
    for query in BackendModel.queries(of: upload) {
      var answer = mock.ask(query, answers: call.answers, now: call.now)
      let claims = upload.claims.filter { BackendModel.query($0, upload.proof(of: $0)) == query }
      hears(&answer, query, claims, &mock, call.now)
      call.answers[query] = answer
    }
  }

  // MARK: What several bugs use

  /// The upload of a call; nil for another call, and for an unreadable body.
  static func upload(in call: Route.Call) -> UploadRequest? {
    guard call.request.method == "POST", call.request.path == MockState.uploadPath else { return nil }
    do {
      return try JSONBody.decode(UploadRequest.self, from: call.request)
    } catch {
      return nil
    }
  }

  /// The call with a changed upload.
  static func replace(_ upload: UploadRequest, in call: inout Route.Call) throws {
    call.request.body = Array(try JSONEncoder().encode(upload))
  }

  /// Whether the call is of this route of the protocol, such as `POST /v1/orders`.
  static func isCall(_ call: Route.Call, _ method: String, _ path: String) -> Bool {
    call.request.method == method && call.request.path == path
  }

  /// A verdict on each claim, without a judgement.
  static func all(_ verdict: Verdict, of upload: UploadRequest, _ mock: MockState) throws -> HTTPResponse {
    let verdicts = upload.claims.map {
      ClaimVerdict(
        environment: $0.environment, transactionID: $0.transactionID, verdict: verdict,
        reason: verdict == .rejected ? "no" : nil, owner: verdict.isSettled ? .yours : nil)
    }
    return try JSONBody.response(
      UploadReply(ledgerEpoch: try mock.backend.model().ledgerEpoch, verdicts: verdicts))
  }

  /// Writes the newest line of a transaction into the ledger again, for another owner if there is one.
  static func credit(
    again id: String, to owner: Uploader? = nil, _ mock: MockState, now: Timestamp
  ) throws {
    try mock.backend.change { model in
      guard var credit = model.credits.last(where: { $0.transaction.transactionID == id }) else { return [] }
      credit.sequence = model.credits.count + 1
      credit.owner = owner ?? credit.owner
      credit.at = now
      model.apply(.credit(credit))
      return [.credit(credit)]
    }
  }

  /// Writes into the model and the file.
  static func write(_ mock: MockState, _ writes: (BackendModel) -> [BackendWrite]) throws {
    try mock.backend.change { model in
      let writes = writes(model)
      for write in writes { model.apply(write) }
      return writes
    }
  }
}
