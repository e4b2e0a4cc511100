import FaultInjection
import Foundation
import PurchaseSync

/// Who handles the purchase in the simulated app. Each is an honest version of what apps do.
enum Client: String, CaseIterable, Codable {
  case engine
  /// Uploads, and finishes without waiting for the answer; keeps nothing.
  case fireAndForget = "fire-and-forget"
  /// Finishes, then uploads until there is an answer; keeps what is unsent in memory.
  case finishFirst = "finish-first"
  /// Keeps what is unsent in a list file in the app's folder.
  case defaultsList = "defaults-list"
  /// Keeps nothing: the app receipt is read again and sent (R5.4 says why not).
  case receiptOnly = "receipt-only"
  /// Keeps what is unsent in one list in the keychain, and sends it as whoever is signed in.
  case keychainList = "keychain-list"

  var summary: String {
    switch self {
    case .engine: "SyncEngine, as it is embedded"
    case .fireAndForget: "sends, and finishes without waiting for an answer"
    case .finishFirst: "finishes, then sends until 200; the unsent is in memory"
    case .defaultsList: "keeps the unsent in a file in the app's folder"
    case .receiptOnly: "keeps nothing: sends the app receipt, finishes at 200"
    case .keychainList: "one list in the keychain, sent as whoever is signed in"
    }
  }
}

/// What the app does with what happens to it. One value is one run of the app.
protocol AppClient: Sendable {
  /// The app has started: what the store holds is taken up.
  func launched() async throws
  /// Before the payment sheet: the order, and the token that goes to the store with the payment.
  func order(product: String, account: String) async throws -> UUID?
  /// The store handed over a transaction that has just been paid; `account` is the buyer's, as far as is known.
  func took(_ transaction: StoreTransaction, account: String?) async throws
  /// Somebody has signed in to the app.
  func signedIn(_ account: String) async throws
  /// What the device bought is to be this account's.
  func claim(for account: String) async throws
  /// Something in the phone's settings has changed: the Apple ID, the clock.
  func settingsChanged() async throws
  /// Whether there is nothing left to do.
  func isDone() async throws -> Bool
  /// The app is closed.
  func close() async
}

/// What a client is made of.
struct AppParts: Sendable {
  let options: AppOptions
  let failpoints: Failpoints
  let phone: PhoneState
  let trace: AppTrace
}

extension AppParts {
  /// The purchase is where this client keeps it, if it keeps it: the moments of the engine that this is.
  func passNoted() {
    failpoints.pass("enqueue.committed")
    failpoints.pass("enqueue.mirrored")
  }
}
