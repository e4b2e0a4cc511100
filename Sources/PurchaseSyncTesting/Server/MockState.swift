import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// The state that the mock server's lock guards: the store, the backend and the fault plan.
struct MockState {
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
  /// How long orders wait for their payment, in milliseconds; nil for no limit.
  var orderLifetime: Int64?
  /// How often the backend's job could not be committed.
  var failedJobs = 0
  /// The verifier that the backend asks; nil for the store in process.
  var verifier: (any ReceiptVerifier)?
  /// The planted bug, if there is one.
  var broken: BrokenBackend?
  /// Who answers the paths of a protocol that is not ours.
  var services: [String: MockServer.Service] = [:]
  /// Signs the backend's answers; nil for unsigned ones.
  var signature: ChecksumSignature?
  /// How far the mock's clock is ahead of the given one, in milliseconds.
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
    // Faults never strike the routes that remove them.
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

  /// The route's name, so that unknown paths do not add names.
  private static func name(of request: HTTPRequest) -> String {
    let route = routes.first { $0.method == request.method && $0.parameter(in: request.path) != nil }
    return route.map { "\($0.method) \($0.path)" } ?? "no route"
  }

  /// Counts the claims of an upload that no handler judges.
  mutating func countSwallowedUpload(_ request: HTTPRequest) {
    guard request.method == "POST", request.path == Self.uploadPath else { return }
    do {
      count(try JSONBody.decode(UploadBody.self, from: request).claims)
    } catch {
      // The body is no upload, so it has no claims to count.
      return
    }
  }

  mutating func count(_ claims: [Claim]) {
    for claim in claims { uploads[claim.transactionID, default: 0] += 1 }
  }

  static let uploadPath = "/v1/receipts"
  static let notificationPath = "/v1/notifications/appstore"
  /// The path of the backend's calls to the store in a fault plan. The server has no such route.
  static let verificationPath = "/store/verify"
}

extension Fault {
  /// Whether the handler gets the request.
  fileprivate var reachesHandler: Bool {
    switch self {
    case .dropBeforeCommit, .respond, .garbage: false
    case .dropAfterCommit, .delay, .reset, .truncate, .stall, .deliverTwice, .wrongLength, .dribble: true
    }
  }
}
