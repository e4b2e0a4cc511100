import AppStoreReceipts
import PurchaseSync
import PurchaseSyncTesting

/// A sequence of purchases, faults and kills, as data. It can be written to a file and read from one (`run FILE.json`).
struct Scenario: Hashable {
  /// One launch of the app.
  struct Launch: Hashable {
    /// The events outside of the app before the launch, in this order.
    var before: [EnvironmentStep] = []
    /// The accounts that are signed in to the app when it starts.
    var signedIn = ["alice", "bob"]
    /// What the person does with the app.
    var does: [AppStep] = []
    /// The steps of an extension of the app at the same time, in its own process on the same files.
    var `extension`: [AppStep] = []
    /// Where the app is killed.
    var killed: Crash?
    /// After the kill, or at the end of this launch, the app is deleted and installed again.
    var reinstalled = false
    /// How many purchases have to be granted by the end of this launch. The launch lasts until they are.
    var granted: Int?
    /// Whether the keychain is locked in this launch, as before the first unlock.
    var isVaultLocked = false
    /// The phone on which the app is opened. Each has files and a keychain of its own, and the same Apple ID at first.
    var phone = Scenario.phone
  }

  /// The expected result. Nothing may ever be lost, doubled, stuck, or granted to another account.
  struct Expectation: Hashable {
    /// The number of paid purchases in the end; nil for any number.
    var paid: Int?
    /// The least number of verdicts of a kind, such as `refunded`.
    var verdicts: [String: Int] = [:]
    /// How many orders the backend has in these states in the end, such as `delivered`.
    var orders: [String: Int] = [:]
    /// The least number of verdicts with an owner, such as `yours`; 0 for none at all.
    var owners: [String: Int] = [:]
    /// How many credits belong to devices in the end; nil for any number.
    var ofDevices: Int?
  }

  /// In words with hyphens.
  var name: String
  /// The path of the scenario file; nil for a built-in scenario.
  var file: String?
  /// One line.
  var summary: String
  /// What happens, for readers.
  var description = ""
  /// The weakness of apps that it attacks.
  var attacks = ""
  /// Ids of requirements (`R5.3`) and numbers of invariants (`invariant 1`).
  var proves: [String] = []
  /// In this order. After the last one the app is opened again until nothing is left to do.
  var launches: [Launch]
  var expects = Expectation()
  /// The most entries of the queue; nil for the documented number.
  var entries: Int?
  /// Whether the device makes an order if the backend does not.
  var makesOrders = false
  /// How long the app waits without progress for its work to be done; see `AppPatience`.
  var seconds: Int64 = 10
  /// How much faster than in production the clocks of phones, store and backend go.
  var timeScale: Int64 = 1_000
  /// The store that the app uses: `Production`, or one for testing.
  var environment = StoreEnvironment.production
  /// For whom the app says that purchases are which name no owner.
  var unclaimed = UnclaimedPolicy.device
  /// Whether the backend asks the store over HTTP, at `/verifyReceipt`.
  var verifiesOverHTTP = false
  /// Whether the backend signs its answers, and the engine verifies them.
  var signsReplies = false
  /// Whether the backend finishes at the store what it has granted, and grants what notifications report.
  var finishesAtStore = false

  /// The phone, and its owner's Apple ID.
  static let phone = "phone"
  static let storeAccount = "apple-1"

  /// The signature of scenarios that have one.
  static let signature = ChecksumSignature(key: 7)

  /// Whether the backend asks the app to wait.
  var asksToWait: Bool {
    launches.flatMap(\.before).contains { if case .faults(let plan) = $0 { plan.asksToWait } else { false } }
  }

  /// The phones of the scenario.
  var phones: [String] { Array(Set(launches.map(\.phone) + [Self.phone])).sorted() }
  static let uploads = "/v1/receipts"

  /// Whether both are the same but for the place that they come from.
  func plays(like other: Scenario) -> Bool {
    var copy = other
    copy.file = file
    return copy == self
  }

  static let all: [Scenario] =
    crashes + reinstalls + matching + accounts + storeEvents + subscriptions + troubles + disasters
    + buying + ownership + system + waiting
}

/// When the app is killed, in terms that fit every client.
enum Crash: String, Hashable, CaseIterable {
  /// Before the payment sheet was confirmed.
  case beforePayment
  /// Charged, and nothing else has happened.
  case afterPayment
  /// The app has received the transaction and has written nothing.
  case beforeEnqueue
  /// The app has written the transaction.
  case afterEnqueue
  /// The upload has arrived at the backend; its answer is on its way.
  case duringUpload
  /// The answer has just arrived, and the app has written nothing of it.
  case afterGrant
  /// The app has written the answer and has not finished the transaction.
  case beforeFinish
  /// At the first checkpoint, then at the second, and so on, until a launch comes to its end.
  case againAndAgain
}
