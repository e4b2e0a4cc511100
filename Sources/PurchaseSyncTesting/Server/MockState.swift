import LoopbackHTTP
import PurchaseQueue
import PurchaseSync

/// The state that the mock server's lock guards: the store, the backend and the fault plan.
package struct MockState {
  package var store: StoreModel { didSet { isChanged = true } }
  package let backend: BackendStore
  var faults: FaultPlan
  package var credentials: Credentials { didSet { isChanged = true } }
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
  /// How often a change outside of a request could not be written.
  var failedCommits = 0
  /// The verifier that the backend asks; nil for the store in process.
  var verifier: (any ReceiptVerifier)?
  /// The planted bug, if there is one.
  var broken: BrokenHooks?
  /// What the planted bug remembers.
  package var brokenMemory = BrokenMemory()
  /// Who answers the paths of a protocol that is not ours.
  var services: [String: MockServer.Service] = [:]
  /// Signs the backend's answers; nil for unsigned ones.
  var signature: ChecksumSignature?
  /// The tokens with which backends have signed requests to the App Store Server API.
  var checkedTokens = CheckedTokens()
  /// How many requests that API takes.
  var limiter = ServerAPILimiter()
  /// Whether the backend finishes at the store what it has granted.
  var finishesAtStore = false
  /// What it has to do there once the request's changes are durable.
  var errands: [StoreErrand] = []
  /// How often the store refused that.
  var failedErrands = 0
  /// How far the mock's clock is ahead of the given one, in milliseconds.
  package var clockShift: Int64 = 0 { didSet { isChanged = true } }
  /// Where the store posts its notifications; nil for this server's own backend.
  var notificationURL: String? { didSet { isChanged = true } }
  /// Whether only this machine reaches the server.
  var isLoopback = true
  /// Whether the next `goOn` runs the backend's job, due or not.
  var isJobAsked = false
  /// What the file has of this state; nil if the store ends with this server.
  var keeper: StoreKeeper?
  /// The state of a file that has none yet.
  var firstState: KeptState?
  /// Whether something of what the file keeps may have changed since the last `keep`.
  private(set) var isChanged = false

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
    do {
      try keep(now: now)
    } catch {
      response = HTTPProblem(error).response
    }
    return (handledCount, response)
  }

  /// Gives the changes since the last call to the backend's file, which writes them with the next commit.
  mutating func keep(now: Timestamp) throws {
    guard var keeper, isChanged else { return }
    var kept = KeptState(
      store: store, clockShift: clockShift, revokedTokens: credentials.revoked,
      deletedAccounts: credentials.deleted, notificationURL: notificationURL)
    let rows = try keeper.changes(of: &kept, now: now.adding(milliseconds: clockShift))
    self.keeper = keeper
    store = kept.store
    isChanged = false
    backend.gather(rows)
  }

  /// The same, and waits until they are in the file. For changes that no request makes. After a failure they did not
  /// happen: the next commit fails, and sets the store back (`abandon`).
  ///
  /// - Returns: False if they did not happen.
  @discardableResult
  mutating func keepNow(now: Timestamp) -> Bool {
    guard keeper != nil, isChanged else { return true }
    do {
      try keep(now: now)
      try backend.flush()
    } catch {
      failedCommits += 1
    }
    return !backend.hasLostRows
  }

  /// Goes on with what a file has. A clock that runs fast, or was moved, does not go back at a restart.
  mutating func resume(_ kept: KeptState, at moment: Timestamp, now: Timestamp) {
    let given = store
    store = kept.store
    store.resume(as: given)
    credentials.revoked = kept.revokedTokens
    credentials.deleted = kept.deletedAccounts
    notificationURL = kept.notificationURL
    clockShift = kept.clockShift
    let behind = now.adding(milliseconds: clockShift).milliseconds.distance(to: moment.milliseconds)
    if behind > 0 { clockShift += Int64(behind) }
  }

  /// The route's name, so that unknown paths do not add names.
  private static func name(of request: HTTPRequest) -> String {
    let route = routes(for: request.path).first {
      $0.method == request.method && $0.parameter(in: request.path) != nil
    }
    return route.map { "\($0.method) \($0.path)" } ?? "no route"
  }

  /// Counts the claims of an upload that no handler judges.
  mutating func countSwallowedUpload(_ request: HTTPRequest) {
    guard request.method == "POST", request.path == Self.uploadPath else { return }
    do {
      let body = try JSONBody.decode(UploadBody.self, from: request)
      try body.checkLengths()
      count(body.claims)
    } catch {
      // The body is no upload, so it has no claims to count.
      return
    }
  }

  mutating func count(_ claims: [Claim]) {
    for claim in claims where uploads[claim.transactionID] != nil || uploads.count < Self.countedUploads {
      uploads[claim.transactionID, default: 0] += 1
    }
  }

  /// How many transactions are counted: the counts are for tests, and strangers may send any id.
  private static let countedUploads = 100_000

  package static let uploadPath = "/v1/receipts"
  package static let notificationPath = "/v1/notifications/appstore"

  /// The path of the backend's calls to the store in a fault plan. The server has no such route.
  static func verificationPath(of query: VerificationQuery) -> String {
    query.document == nil ? "/store/verify/id" : "/store/verify/proof"
  }
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
