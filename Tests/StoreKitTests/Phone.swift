#if canImport(StoreKitTest)
  import Foundation
  import PurchaseSync
  import StoreKitTest

  /// A backend that credits each transaction once.
  actor Ledger: PurchaseBackend {
    struct NoAnswer: Error {}

    /// The account of each transaction.
    private(set) var credits: [String: String] = [:]
    private(set) var calls = 0
    /// Requests that fail before, and answers that are lost after, the credit.
    private var outages = 0
    private var lostAnswers = 0
    private var refunded: Set<String> = []

    func fails(_ requests: Int) { outages = requests }
    func losesAnswers(_ answers: Int) { lostAnswers = answers }
    func refund(_ transactionID: String) { refunded.insert(transactionID) }

    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      calls += 1
      if outages > 0 {
        outages -= 1
        throw NoAnswer()
      }
      if refunded.contains(purchase.transactionID) { return .refunded }
      guard let account = owner.account else { return .pending(reason: "bought before sign-in") }
      let known = credits[purchase.transactionID]
      credits[purchase.transactionID] = known ?? account
      if lostAnswers > 0 {
        lostAnswers -= 1
        throw NoAnswer()
      }
      guard let known else { return .granted }
      return known == account ? .duplicate : .belongsToAnother
    }
  }

  /// What the user was given.
  actor Wallet {
    private(set) var outcomes: [Outcome] = []
    private var waiting: [CheckedContinuation<Void, Never>] = []

    var products: [String] { outcomes.filter(\.isFulfilled).compactMap { $0.purchase?.productID } }

    func take(_ outcome: Outcome) {
      outcomes.append(outcome)
      let waiting = self.waiting
      self.waiting = []
      for continuation in waiting { continuation.resume() }
    }

    /// Returns when the user has exactly these products.
    func holds(_ products: [String]) async { await until { self.products == products } }

    /// Returns when this was the last verdict.
    func hears(_ verdict: Verdict) async { await until { self.outcomes.last?.verdict == verdict } }

    private func until(_ condition: () -> Bool) async {
      while !condition() { await withCheckedContinuation { waiting.append($0) } }
    }
  }

  /// Xcode's App Store with one store account, the app's backend, and a phone.
  @MainActor final class Phone {
    let store: SKTestSession
    let ledger = Ledger()
    private(set) var wallet = Wallet()
    private let folder = FileManager.default.temporaryDirectory.path + "/StoreKit-" + UUID().uuidString
    private var installation = 1

    init() throws {
      let products = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Products.storekit")
      store = try SKTestSession(contentsOf: products)
      store.resetToDefaultState()
      store.clearTransactions()
      store.disableDialogs = true
    }

    /// The app is opened. Close the shop before it is opened again.
    func launch(waiting: Duration = .seconds(60)) -> Shop {
      let wallet = self.wallet
      var configuration = SyncConfiguration(path: "\(folder)/\(installation)/purchases.sqlite")
      configuration.currentAccount = { "alice" }
      return Shop(
        store: StoreKitStore(), backend: ledger, configuration: configuration, lifecycle: .explicit,
        waiting: waiting, credentials: { "token of \($0.account)" }, fulfil: { await wallet.take($0) })
    }

    /// The app is deleted and installed again, or on another phone of the store account.
    func reinstall() {
      installation += 1
      wallet = Wallet()
    }
  }
#endif
