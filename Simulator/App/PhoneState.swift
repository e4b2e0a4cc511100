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
  private let online = Locked(true)
  /// Holds how far the person has set the clock: a phone keeps that when an app is killed.
  private let clockFile: String

  init(signedIn: [String], clockShift: Int64, clockFile: String) throws {
    accounts = Locked(Accounts(signedIn: Set(signedIn), current: signedIn.first))
    self.clockFile = clockFile
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

  /// Whether the phone has a network for the backend.
  var isOnline: Bool { online.value }

  func setOnline(_ isOnline: Bool) { online.withLock { $0 = isOnline } }

  /// Sets the clock, for this launch and all later ones.
  func jump(by milliseconds: Int64) throws {
    let total = try Self.setBy(clockFile) + milliseconds
    try JSONEncoder().encode(total).write(to: URL(fileURLWithPath: clockFile), options: .atomic)
    offset.withLock { $0 += milliseconds }
  }

  func now() -> Timestamp { Timestamp.wallClock().adding(milliseconds: offset.value) }
}

/// The way to the backend, which ends where the phone has no network.
struct SwitchedTransport: BackendTransport {
  let base: any BackendTransport
  let phone: PhoneState

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    guard phone.isOnline else { throw TransportError(reason: "no network") }
    return try await base.send(request)
  }
}
