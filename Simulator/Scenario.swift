import LoopbackHTTP
import PurchaseSyncTesting

/// A story of one purchase: what goes wrong, and when the app dies.
struct Scenario: Equatable {
  /// When the app is killed, in the words that fit every client.
  enum Crash: String, Equatable {
    /// Charged; nothing else has happened.
    case afterPayment
    /// The transaction was taken over by the app, and its upload is about to leave or has just left.
    case afterEnqueue
    /// The backend granted; its answer has just arrived.
    case afterGrant
  }

  var name: String
  var summary: String
  var crash: Crash?
  var reinstalls = false
  var faults: @Sendable () -> FaultPlan = { .none }

  static func == (left: Scenario, right: Scenario) -> Bool { left.name == right.name }

  private static let uploads = "/v1/receipts"

  static let all: [Scenario] = [
    Scenario(name: "purchase", summary: "pay, upload, granted, finished: nothing goes wrong"),
    Scenario(
      name: "backend-outage", summary: "the backend answers 503 to the first five uploads",
      faults: { .outage(path: uploads, requests: 5) }),
    Scenario(
      name: "reply-lost", summary: "the backend grants, and its answer is lost",
      faults: { .replyLost(path: uploads, occurrence: 1) }),
    Scenario(
      name: "crash-after-payment", summary: "the app is killed between the charge and the store's call back",
      crash: .afterPayment),
    Scenario(
      name: "crash-after-enqueue",
      summary: "no signal: the first upload is lost, and the app is killed before it can try again",
      crash: .afterEnqueue, faults: { .requestLost(path: uploads, occurrence: 1) }),
    Scenario(
      name: "crash-after-grant",
      summary: "the app is killed when the answer arrives, before anything is written",
      crash: .afterGrant),
    Scenario(
      name: "reinstall",
      summary: "killed with an unsent receipt, deleted and installed again: only the keychain area is left",
      crash: .afterEnqueue, reinstalls: true, faults: { .requestLost(path: uploads, occurrence: 1) }),
  ]
}
