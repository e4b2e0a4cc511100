import Foundation
import ProcessFaults
import PurchaseQueue
import PurchaseSync

/// The code that handles purchases in the simulated app. Each client does what real apps do.
enum Client: String, CaseIterable, Codable {
  case engine
  /// Uploads, and finishes without waiting for the answer. Keeps nothing.
  case fireAndForget = "fire-and-forget"
  /// Finishes, then uploads until there is an answer. Keeps unsent purchases in memory.
  case finishFirst = "finish-first"
  /// Keeps unsent purchases in a list file in the app's folder.
  case defaultsList = "defaults-list"
  /// Keeps nothing: reads the app receipt again and sends it. R5.4 explains why that fails.
  case receiptOnly = "receipt-only"
  /// Keeps unsent purchases in one list in the keychain, and sends them as the account that is signed in.
  case keychainList = "keychain-list"
  /// Posts as the account that is signed in. An answer that is no 5xx finishes the transaction; what is not finished is
  /// posted again when the app comes to the foreground. A rule of a public library, in our words: in `purchases-ios`
  /// 5.85, see its `BackendError.finishable` and the retried statuses of its HTTP client.
  case revenuecatRule = "revenuecat-rule"
  /// A file of unsent events with a retry state for each, which is dropped after 100 attempts or 12 hours. A rule of
  /// public libraries, in our words: see the retry state machine of Segment's `analytics-swift` and `analytics-kotlin`.
  case segmentRule = "segment-rule"

  var summary: String {
    switch self {
    case .engine: "SyncEngine, as it is embedded"
    case .fireAndForget: "sends, and finishes without waiting for an answer"
    case .finishFirst: "finishes, then sends until 200; unsent ones in memory"
    case .defaultsList: "keeps unsent ones in a file in the app's folder"
    case .receiptOnly: "keeps nothing: sends the app receipt, finishes at 200"
    case .keychainList: "one list in the keychain, sent by the current account"
    case .revenuecatRule: "posts as the current account; all but 5xx finishes"
    case .segmentRule: "drops an unsent one after 100 attempts or 12 hours"
    }
  }
}

/// How the app reacts to events. One value is one launch of the app.
protocol AppClient: Sendable {
  /// The app has started. It handles what the store holds.
  func launched() async throws
  /// Before the payment sheet: makes the order. Returns the token that goes to the store with the payment.
  func order(product: String, account: String, quantity: Int) async throws -> UUID?
  /// The store handed over a transaction that has just been paid. `account` is the buyer's; nil if unknown.
  func took(_ transaction: StoreTransaction, account: String?) async throws
  /// The store answered the payment sheet that was opened with this token.
  func answered(_ result: PurchaseResult, token: UUID?, account: String?) async throws
  /// From now on the app confirms no outcome.
  func confirmNothing() async
  /// The account has signed in to the app.
  func signedIn(_ account: String) async throws
  /// The account adopts the purchases that the device made before sign-in.
  func adopt(for account: String) async throws
  /// The person taps 'restore purchases'.
  func restore() async throws
  /// A setting of the phone has changed: the Apple ID, the clock.
  func settingsChanged() async throws
  /// The system says that the network is back.
  func networkIsBack() async throws
  /// The person taps 'try again'.
  func tapped() async throws
  /// How much is left to do; 0 for nothing. Only changes of the number matter.
  func workLeft() async throws -> Int
  /// The app is closed.
  func close() async
}

extension AppClient {
  /// Most apps know no purchases of the device.
  func adopt(for account: String) async throws {}

  /// Most apps look at nothing but the transaction.
  func answered(_ result: PurchaseResult, token: UUID?, account: String?) async throws {
    if case .purchased(let transaction) = result { try await took(transaction, account: account) }
  }

  /// Most apps have nothing to confirm.
  func confirmNothing() async {}

  /// Most apps do for both what they do when they come to the foreground.
  func networkIsBack() async throws { try await settingsChanged() }
  func tapped() async throws { try await settingsChanged() }

  /// The store lists what is unfinished at the next launch; most apps do no more.
  func restore() async throws { try await launched() }
}

/// The parts that every client needs.
struct AppParts: Sendable {
  let options: AppOptions
  let checkpoints: Checkpoints
  let phone: PhoneState
  let trace: AppTrace
  /// Nil without a specification.
  let steps: DeviceSteps?
}

extension AppParts {
  /// The purchase is where this client keeps it. These are the checkpoints of the engine for that moment.
  func passNoted() {
    checkpoints.pass(.enqueueCommitted)
    checkpoints.pass(.enqueueMirrored)
  }
}
