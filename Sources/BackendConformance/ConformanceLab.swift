package import AppStoreReceipts
package import Foundation
import PurchaseSync
import PurchaseSyncTesting

/// Sends the requests of the checks, and records each of them with its answer.
package actor ConformanceLab {
  /// Whose credentials a request has.
  package enum Caller: Sendable {
    case alice, bob
    case device(UUID)
    /// A device on which an account is signed in.
    case deviceOfAlice(UUID), deviceOfBob(UUID)
    /// A device that shows another secret than `device`; the other account is signed in on the second one.
    case thief(UUID), thiefOfBob(UUID)
    /// A device whose account has this token.
    case deviceWithToken(UUID, String)
    case token(String)
    /// This text as the whole credential.
    case header(String)
    case anonymous
  }

  package struct Reply: Sendable {
    package var status: Int
    package var contentType: String?
    package var json: JSONValue?
    package var size: Int

    /// A 4xx.
    package var isRefusal: Bool { (400..<500).contains(status) }
    package var isSuccess: Bool { (200..<300).contains(status) }
  }

  /// One request and its answer, for the report.
  package struct Exchange: Sendable, Encodable {
    package var sent: String
    package var received: String
  }

  /// What was sent and received; described only if a report shows it.
  private struct Record {
    var request: BackendRequest
    var path: String
    var status: String
    var body: Data
  }

  package nonisolated let site: ConformanceSite
  private var records: [Record] = []
  /// When the check began, in milliseconds since 1970.
  private(set) var began = ConformanceLab.now
  private var count = 0
  private let run: String
  var products: [JSONValue]?
  /// Whether a write came after the last read.
  private var hasWritten = false
  /// Whether a check lets the store answer no question of the backend.
  var isStoreSilenced = false
  /// The versions of the notifications that the store posts after the run; nil while it posts them.
  var pausedVersions: JSONValue?
  /// The environment that the last claim about each transaction has named.
  var claimedEnvironments: [String: String] = [:]

  /// - Parameter run: Part of every name that the checks give, so that two runs do not meet.
  package init(_ site: ConformanceSite, run: String = String(UUID().uuidString.prefix(8)).lowercased()) {
    (self.site, self.run) = (site, run)
  }

  /// A check begins: forgets the recorded exchanges.
  package func begin() { (records, began) = ([], Self.now) }

  /// The exchanges since `begin`, without credentials and proofs.
  package var exchanges: [Exchange] {
    records.map { record in
      let body = record.request.body
      let sent = body.isEmpty ? "" : " " + site.describe(body, Self.json(body))
      let received =
        record.body.isEmpty ? "" : " " + site.describe(record.body, Self.json(record.body))
      return Exchange(
        sent: "\(record.request.method) \(record.path)\(sent)", received: record.status + received)
    }
  }

  /// A name that no other check or run uses: a backend keeps what earlier ones sent.
  func unique(_ word: String) -> String {
    count += 1
    return "\(word)-\(run)-\(count)"
  }

  /// A text as a part of a path or of a query.
  static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// RFC 3986 2.3.
  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// The path of an order, or of what is done to it.
  static func path(of order: String, _ action: String? = nil) -> String {
    "v1/orders/" + escaped(order) + (action.map { "/" + $0 } ?? "")
  }

  // MARK: The backend

  package func send(
    _ method: String, _ path: String, as caller: Caller = .alice, headers: [String: String] = [:],
    json: JSONValue? = nil
  ) async throws -> Reply {
    for claim in json?["claims"]?.array ?? [] {
      guard let id = claim["transactionID"]?.string else { continue }
      claimedEnvironments[id] = claim["environment"]?.string
    }
    return try await send(method, path, as: caller, headers: headers, body: json?.data ?? Data())
  }

  package func send(
    _ method: String, _ path: String, as caller: Caller = .alice, headers: [String: String] = [:],
    body: Data
  ) async throws -> Reply {
    var fields = headers
    if !body.isEmpty, headers["Content-Type"] == nil { fields["Content-Type"] = "application/json" }
    fields["Authorization"] = credentials(caller)
    fields[BackendRequest.signedInHeader] = signedIn(caller)
    let request = BackendRequest(method: method, path: path, headers: fields, body: body)
    let isLate = method == "GET" && hasWritten
    hasWritten = method != "GET"
    if isLate, site.lag > .zero { try await site.pause(site.lag) }
    return try await exchange(request, over: site.backend, "/" + path)
  }

  private func credentials(_ caller: Caller) -> String? {
    switch caller {
    case .alice: "Bearer " + site.tokens.alice
    case .bob: "Bearer " + site.tokens.bob
    case .device(let device), .deviceOfAlice(let device), .deviceOfBob(let device),
      .deviceWithToken(let device, _):
      // A secret that only this lab uses: the name again.
      "Device \(device.uuidString):\(device.uuidString)"
    case .thief(let device), .thiefOfBob(let device): "Device \(device.uuidString):another-secret"
    case .token(let token): "Bearer " + token
    case .header(let text): text
    case .anonymous: nil
    }
  }

  private func signedIn(_ caller: Caller) -> String? {
    switch caller {
    case .deviceOfAlice: "Bearer " + site.tokens.alice
    case .deviceOfBob, .thiefOfBob: "Bearer " + site.tokens.bob
    case .deviceWithToken(_, let token): "Bearer " + token
    default: nil
    }
  }

  /// The most seconds that one request waits for `Retry-After`, in all.
  private static let longestWait = 120

  /// Sends a request; after a 429 or 503 with `Retry-After`, again when that time is over. Throws if that is too late, or if a
  /// 429 names no time: it is no answer to the request. A 503 without a time is one, as during an outage of the store. So is
  /// each 503 while the check itself silences the store: it would not end before the check has its answer.
  func exchange(
    _ request: BackendRequest, over transport: any BackendTransport, _ path: String
  ) async throws -> Reply {
    var waited = 0
    while true {
      let response = try await answer(to: request, over: transport, path)
      let isBusy = response.status == 429 || response.status == 503 && !isStoreSilenced
      let seconds = isBusy ? response.retryAfter.flatMap { Int($0) } : nil
      guard isBusy, seconds != nil || response.status == 429 else {
        return Reply(
          status: response.status, contentType: response.contentType, json: Self.json(response.body),
          size: response.body.count)
      }
      guard let seconds, seconds >= 0, seconds <= Self.longestWait - waited else {
        throw ConformanceFailure.busy(
          response.status, retryAfter: seconds, longestWait: Self.longestWait)
      }
      // At least a second, so that an answer of 0 seconds ends too.
      waited += max(1, seconds)
      try await site.pause(.seconds(max(1, seconds)))
    }
  }

  private func answer(
    to request: BackendRequest, over transport: any BackendTransport, _ path: String
  ) async throws -> BackendResponse {
    do {
      let response = try await transport.send(request)
      records.append(Record(request: request, path: path, status: "\(response.status)", body: response.body))
      return response
    } catch {
      records.append(
        Record(request: request, path: path, status: "no answer: \(error.reason)", body: Data()))
      throw ConformanceFailure("an answer")
    }
  }

  /// The longest body that is read as JSON, in bytes.
  private static let readableBytes = 4 << 20

  /// Nil for a body that is not JSON.
  private static func json(_ body: Data) -> JSONValue? {
    guard !body.isEmpty, body.count <= readableBytes else { return nil }
    do throws(ReceiptDecodingError) {
      return try JSONValue(json: body)
    } catch {
      return nil
    }
  }

  /// Kills the backend and starts it again.
  func restart() async throws {
    guard let restart = site.restart else { throw ConformanceFailure("a command that restarts the backend") }
    do {
      try await restart()
    } catch {
      throw ConformanceFailure("that the restart command brings the backend back: \(error)")
    }
    if pausedVersions != nil { await pauseNotifications() }
  }
}
