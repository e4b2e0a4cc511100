package import AppStoreReceipts
package import PurchaseSync
package import PurchaseSyncTesting

/// A sequence of purchases, faults and kills, as data. It can be written to a file and read from one (`run FILE.json`).
package struct Scenario: Hashable {
  /// One launch of the app.
  package struct Launch: Hashable {
    /// The events outside of the app before the launch, in this order.
    package var before: [EnvironmentStep] = []
    /// The accounts that are signed in to the app when it starts.
    package var signedIn = ["alice", "bob"]
    /// What the person does with the app.
    package var does: [AppStep] = []
    /// The steps of an extension of the app at the same time, in its own process on the same files.
    package var `extension`: [AppStep] = []
    /// Where the app is killed.
    package var killed: Crash?
    /// After the kill, or at the end of this launch, the app is deleted and installed again.
    package var reinstalled = false
    /// How many purchases have to be granted by the end of this launch. The launch lasts until they are.
    package var granted: Int?
    /// Whether the keychain is locked in this launch, as before the first unlock.
    package var isVaultLocked = false
    /// The phone on which the app is opened. Each has files and a keychain of its own, and the same Apple ID at first.
    package var phone = Scenario.phone

    package init(
      before: [EnvironmentStep] = [], signedIn: [String] = ["alice", "bob"], does: [AppStep] = [],
      extension: [AppStep] = [], killed: Crash? = nil, reinstalled: Bool = false, granted: Int? = nil,
      isVaultLocked: Bool = false, phone: String = Scenario.phone
    ) {
      (self.before, self.signedIn, self.does, self.extension) = (before, signedIn, does, `extension`)
      (self.killed, self.reinstalled, self.granted) = (killed, reinstalled, granted)
      (self.isVaultLocked, self.phone) = (isVaultLocked, phone)
    }
  }

  /// The expected result. Nothing may ever be lost, doubled, stuck, or granted to another account.
  package struct Expectation: Hashable {
    /// The number of paid purchases in the end; nil for any number.
    package var paid: Int?
    /// The least number of verdicts of a kind, such as `refunded`; 0 for none at all.
    package var verdicts: [String: Int] = [:]
    /// How many orders the backend has in these states in the end, such as `delivered`.
    package var orders: [String: Int] = [:]
    /// The least number of verdicts with an owner, such as `yours`; 0 for none at all.
    package var owners: [String: Int] = [:]
    /// How many credits belong to devices in the end; nil for any number.
    package var ofDevices: Int?

    package init(
      paid: Int? = nil, verdicts: [String: Int] = [:], orders: [String: Int] = [:],
      owners: [String: Int] = [:], ofDevices: Int? = nil
    ) {
      (self.paid, self.verdicts, self.orders) = (paid, verdicts, orders)
      (self.owners, self.ofDevices) = (owners, ofDevices)
    }
  }

  /// In words with hyphens.
  package var name: String
  /// The path of the scenario file; nil for a built-in scenario.
  package var file: String?
  /// One line.
  package var summary: String
  /// What happens, for readers.
  package var description = ""
  /// The weakness of apps that it attacks.
  package var attacks = ""
  /// Ids of requirements (`R5.3`) and numbers of invariants (`invariant 1`).
  package var proves: [String] = []
  /// In this order. After the last one the app is opened again until nothing is left to do.
  package var launches: [Launch]
  package var expects = Expectation()
  /// The most entries of the queue; nil for the documented number.
  package var entries: Int?
  /// Whether the device makes an order if the backend does not.
  package var makesOrders = false
  /// How long the app waits without progress for its work to be done; see `AppPatience`.
  package var seconds: Int64 = 10
  /// How much faster than in production the clocks of phones, store and backend go.
  package var timeScale: Int64 = 1_000
  /// The store that the app uses: `Production`, or one for testing.
  package var environment = StoreEnvironment.production
  /// For whom the app says that purchases are which name no owner.
  package var unclaimed = UnclaimedPolicy.device
  /// Whether the backend asks the store over HTTP, at `/verifyReceipt`.
  package var verifiesOverHTTP = false
  /// Whether the backend signs its answers, and the engine verifies them.
  package var signsReplies = false
  /// Whether the backend finishes at the store what it has granted, and grants what notifications report.
  package var finishesAtStore = false

  package init(
    name: String, file: String? = nil, summary: String, description: String = "", attacks: String = "",
    proves: [String] = [], launches: [Launch], expects: Expectation = Expectation(), entries: Int? = nil,
    makesOrders: Bool = false, seconds: Int64 = 10, timeScale: Int64 = 1_000,
    environment: StoreEnvironment = .production, unclaimed: UnclaimedPolicy = .device,
    verifiesOverHTTP: Bool = false, signsReplies: Bool = false, finishesAtStore: Bool = false
  ) {
    (self.name, self.file, self.summary, self.description) = (name, file, summary, description)
    (self.attacks, self.proves, self.launches, self.expects) = (attacks, proves, launches, expects)
    (self.entries, self.makesOrders, self.seconds) = (entries, makesOrders, seconds)
    (self.timeScale, self.environment, self.unclaimed) = (timeScale, environment, unclaimed)
    (self.verifiesOverHTTP, self.signsReplies) = (verifiesOverHTTP, signsReplies)
    self.finishesAtStore = finishesAtStore
  }

  /// The phone, and its owner's Apple ID.
  package static let phone = "phone"
  package static let storeAccount = "apple-1"

  /// The signature of scenarios that have one.
  package static let signature = ChecksumSignature(key: 7)

  /// Whether the backend asks the app to wait.
  package var asksToWait: Bool {
    launches.flatMap(\.before).contains { if case .faults(let plan) = $0 { plan.asksToWait } else { false } }
  }

  /// The phones of the scenario.
  package var phones: [String] { Array(Set(launches.map(\.phone) + [Self.phone])).sorted() }
  package static let uploads = "/v1/receipts"

  /// Whether both are the same but for the place that they come from.
  package func plays(like other: Scenario) -> Bool {
    var copy = other
    copy.file = file
    return copy == self
  }
}

/// When the app is killed, in terms that fit every client.
package enum Crash: String, Hashable, CaseIterable {
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
