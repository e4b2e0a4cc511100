import PurchaseSyncTesting

/// A story of purchases, as data: what people do, what goes wrong, and when the app dies. It can be written to a file
/// and read from one (`story FILE`).
struct Scenario: Hashable {
  /// One run of the app.
  struct Launch: Hashable {
    /// What happens in the world before it, in this order.
    var before: [WorldStep] = []
    /// Who is signed in to the app when it starts.
    var signedIn = ["alice", "bob"]
    /// What the person does with the app.
    var does: [AppStep] = []
    /// What an extension of the app does at the same time, in a process of its own on the same files.
    var `extension`: [AppStep] = []
    /// Where the app is killed.
    var killed: Crash?
    /// After the kill, or at the end of this run, the app is deleted and installed again.
    var reinstalled = false
    /// How many purchases have to be granted when this run is over.
    var granted: Int?
    /// Whether the keychain can be used in this run: it cannot before the first unlock.
    var isVaultLocked = false
  }

  /// What is to come of it. Nothing is ever to be lost, doubled, stuck, or another account's.
  struct Expectation: Hashable {
    /// How many purchases are paid in the end; nil for any number.
    var paid: Int?
    /// How many verdicts have to be of each kind at least, such as `refunded`.
    var verdicts: [String: Int] = [:]
  }

  /// In words with hyphens.
  var name: String
  /// One line.
  var summary: String
  /// What happens to whom.
  var story = ""
  /// Which weakness of apps it goes for.
  var attacks = ""
  /// Ids of requirements (`R5.3`) and numbers of invariants (`invariant 1`).
  var proves: [String] = []
  /// In this order. After the last one the app is opened again until nothing is left to do.
  var launches: [Launch]
  var expects = Expectation()
  /// The most entries of the queue; nil for the documented number.
  var entries: Int?
  /// How long the last run of the app may take until nothing is left to do; what is pending then is stuck.
  var seconds: Int64 = 10
  /// How much faster than in life the retry policy's clock is.
  var timeScale: Int64 = 1_000
  /// Whether the app is one that Apple tests: its store is the sandbox.
  var isSandbox = false
  /// Whether the backend asks the store over HTTP, at `/verifyReceipt`.
  var verifiesOverHTTP = false

  /// Who owns the phone, and which phone it is.
  static let phone = "phone"
  static let storeAccount = "apple-1"
  static let uploads = "/v1/receipts"

  static let all: [Scenario] =
    crashes + reinstalls + matching + accounts + storeStories + subscriptions + troubles + disasters
}

/// When the app is killed, in words that fit every client.
enum Crash: String, Hashable, CaseIterable {
  /// The person has decided; the payment sheet was not confirmed yet.
  case beforePayment
  /// Charged; nothing else has happened.
  case afterPayment
  /// The app has the transaction in its hands, and has noted nothing.
  case beforeEnqueue
  /// The app has noted the transaction.
  case afterEnqueue
  /// The upload has arrived at the backend; its answer is on its way.
  case duringUpload
  /// The answer has just arrived; the app has noted nothing of it.
  case afterGrant
  /// The app has noted the answer; the store was not told.
  case beforeFinish
  /// At the first thing that the app notes or sends, then at the second, and so on, until it comes to its end.
  case againAndAgain
}
