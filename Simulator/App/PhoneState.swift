import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// The accounts that are signed in to the app, and the phone's clock.
final class PhoneState: Sendable {
  private struct Accounts {
    var signedIn: Set<String>
    var current: String?
  }

  private let accounts: Locked<Accounts>
  private let offset: Locked<Int64>
  private let network = Locked(Network.online)
  /// The clock of the run. The phone's is ahead of it, or behind.
  let clock: FastClock
  /// Holds how far the person has set the clock: a phone keeps that when an app is killed.
  private let clockFile: String

  init(signedIn: [String], clock: FastClock, clockShift: Int64, clockFile: String) throws {
    accounts = Locked(Accounts(signedIn: Set(signedIn), current: signedIn.first))
    (self.clock, self.clockFile) = (clock, clockFile)
    offset = Locked(clockShift + (try Self.setBy(clockFile)))
  }

  private static func setBy(_ clockFile: String) throws -> Int64 {
    guard FileManager.default.fileExists(atPath: clockFile) else { return 0 }
    return try JSONDecoder().decode(Int64.self, from: Data(contentsOf: URL(fileURLWithPath: clockFile)))
  }

  /// The bearer token of an account that is signed in.
  func credential(of account: String) -> String? {
    accounts.value.signedIn.contains(account) ? "token-" + account : nil
  }

  /// The current user of an app that knows one at a time: the first, then the last to sign in.
  var user: String? { accounts.value.current }

  /// Signs in, and becomes the current user even if others are signed in too.
  func signIn(_ account: String) {
    accounts.withLock {
      $0.signedIn.insert(account)
      $0.current = account
    }
  }

  func signOut(_ account: String) {
    accounts.withLock {
      $0.signedIn.remove(account)
      if $0.current == account { $0.current = nil }
    }
  }

  /// The phone's way to the backend.
  enum Network: Equatable {
    case online, offline
    /// A hotel's: its sign-in page is the answer to each request. So many were asked.
    case portal(requests: Int)
  }

  func join(_ network: Network) { self.network.withLock { $0 = network } }

  /// What becomes of a request now.
  fileprivate func passing() -> Network {
    network.withLock { network in
      if case .portal(let requests) = network { network = .portal(requests: requests + 1) }
      return network
    }
  }

  /// Sets the clock, for this launch and all later ones.
  func jump(by milliseconds: Int64) throws {
    let total = try Self.setBy(clockFile) + milliseconds
    try JSONEncoder().encode(total).write(to: URL(fileURLWithPath: clockFile), options: .atomic)
    offset.withLock { $0 += milliseconds }
  }

  /// The pause of a simple app between two attempts.
  func pause() async throws { try await clock.sleep(milliseconds: 20_000) }

  func now() -> Timestamp { clock.now().adding(milliseconds: offset.value) }
}

/// The clock stands while a request is on its way.
struct ClockedTransport: BackendTransport {
  let base: any BackendTransport
  let clock: FastClock

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    try await clock.whileAsking { () async throws(TransportError) in try await base.send(request) }
  }
}

/// The way to the backend, which ends where the phone has no network, or a network with a sign-in page.
struct SwitchedTransport: BackendTransport {
  let base: any BackendTransport
  let phone: PhoneState

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    switch phone.passing() {
    case .online: return try await ClockedTransport(base: base, clock: phone.clock).send(request)
    case .offline: throw TransportError(reason: "no network")
    case .portal(let requests):
      return BackendResponse(
        status: requests > 3 ? 403 : 200, contentType: "text/html",
        body: Data("<html>Welcome. Please sign in.</html>".utf8))
    }
  }
}
