import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// Everything that the world's lock guards: the store, the backend, and what is planned to go wrong.
struct WorldState {
  var store: StoreModel
  let backend: BackendStore
  var faults: FaultPlan
  var credentials: Credentials
  var requestCount = 0
  var handledCount = 0

  /// How many requests came for each method and path, such as `POST /v1/receipts`.
  var requests: [String: Int] = [:]
  /// How many uploads came with a claim for each transaction id.
  var uploads: [String: Int] = [:]
  /// How long orders wait for their payment; nil: for ever.
  var orderLifetime: Int64?
  /// The plan as it was written, if it was set as a document.
  var faultDocument = FaultPlanDocument(rules: [])
  /// How often the backend's job could not be committed.
  var failedJobs = 0
  /// Whom the backend asks about receipts; nil: the store in process.
  var verifier: (any ReceiptVerifier)?
  /// Wrong on purpose.
  var broken: BrokenBackend?
  /// How far the world's clock is ahead of the real one, in milliseconds.
  var clockShift: Int64 = 0

  init(store: StoreModel, backend: BackendStore, faults: FaultPlan, credentials: Credentials) {
    self.store = store
    self.backend = backend
    self.faults = faults
    self.credentials = credentials
  }

  mutating func admit(_ request: HTTPRequest) -> (ordinal: Int, fault: Fault?) {
    requestCount += 1
    requests[Self.name(of: request), default: 0] += 1
    // Whoever plans faults can take them back.
    if request.path.hasPrefix("/admin/") { return (requestCount, nil) }
    let fault = faults.next(method: request.method, path: request.path, body: request.body)
    if let fault, !fault.reachesHandler { countSwallowedUpload(request) }
    return (requestCount, fault)
  }

  mutating func handle(
    _ request: HTTPRequest, now: Timestamp, answers: StoreAnswers = [:]
  ) -> (ordinal: Int, response: HTTPResponse) {
    handledCount += 1
    backend.isGathering = true
    defer { backend.isGathering = false }
    var response = answer(request, now: now.adding(milliseconds: clockShift), answers: answers)
    if request.method == "POST", request.path == Self.uploadPath {
      for distortion in faults.nextReply() where response.status == 200 {
        response.body = distortion.applied(to: response.body)
      }
    }
    return (handledCount, response)
  }

  /// By the route, so that there are few, whatever is asked for.
  private static func name(of request: HTTPRequest) -> String {
    let route = routes.first { $0.method == request.method && $0.parameter(in: request.path) != nil }
    return route.map { "\($0.method) \($0.path)" } ?? "no route"
  }

  /// Uploads that get as far as being judged count themselves, since they are decoded there.
  mutating func countSwallowedUpload(_ request: HTTPRequest) {
    guard request.method == "POST", request.path == Self.uploadPath else { return }
    do throws(HTTPProblem) {
      count(try JSONBody.decode(UploadBody.self, from: request).claims)
    } catch {
      // What is no upload is in the count of requests all the same.
      return
    }
  }

  mutating func count(_ claims: [Claim]) {
    for claim in claims { uploads[claim.transactionID, default: 0] += 1 }
  }

  static let uploadPath = "/v1/receipts"
  /// The path under which a fault plan finds the backend's calls to the store. Not served.
  static let verificationPath = "/store/verify"

  /// The backend's call to the store. Any fault that the plan has for it means that the store does not answer.
  mutating func verify(_ query: VerificationQuery, now: Timestamp) -> StoreVerification {
    if faults.next(method: "POST", path: Self.verificationPath) != nil { return .unavailable }
    return store.verify(query, now: now)
  }
}

extension Fault {
  /// Whether the request is handled, whatever becomes of the answer.
  fileprivate var reachesHandler: Bool {
    switch self {
    case .dropBeforeCommit, .respond, .garbage: false
    case .dropAfterCommit, .delay, .reset, .truncate, .stall, .deliverTwice, .wrongLength, .dribble: true
    }
  }
}
