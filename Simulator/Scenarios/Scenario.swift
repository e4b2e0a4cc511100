import LoopbackHTTP
import PurchaseSyncTesting

/// A story of purchases: what people do, what goes wrong, and when the app dies.
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

  /// One run of the app. After the last one the app is opened again until nothing is left to do.
  struct Launch {
    var steps: [AppStep] = []
    /// Who is signed in to the app when it starts.
    var signedIn = ["alice", "bob"]
    var crash: Crash?
    /// After the crash the app is deleted and installed again.
    var reinstalls = false
    /// What the world does before it.
    var before: @Sendable (WorldServer) throws -> Void = { _ in }
  }

  var name: String
  var summary: String
  var launches = [Launch(steps: [.buy(product: gems, account: "alice")])]
  /// What the world is like from the start.
  var prepare: @Sendable (WorldServer) throws -> Void = { _ in }
  var faults: @Sendable () -> FaultPlan = { .none }
  /// The most entries of the queue; nil for the documented number.
  var entries: Int?
  /// How much faster than in life the retry policy's clock is.
  var timeScale: Int64 = 1_000

  static func == (left: Scenario, right: Scenario) -> Bool { left.name == right.name }

  /// What is sold, all of it consumable.
  static let products = [gems, coins].map { StoreProduct(id: $0, kind: .consumable) }
  static let gems = "gems.100"
  static let coins = "coins.500"
  static let uploads = "/v1/receipts"
  static let phone = "phone"

  static let all: [Scenario] = crashes + matching + accounts + troubles
}
