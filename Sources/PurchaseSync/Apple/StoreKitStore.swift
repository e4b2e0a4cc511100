#if canImport(StoreKit)
  import StoreKit

  /// The device's App Store, through StoreKit 2 and the app receipt file.
  ///
  /// It has no state, and all of them share what they know of the app's scenes: create as many as you like. It never prompts, except in `refreshReceipt`, `sync` and
  /// `purchase`, and never blocks the main thread.
  public struct StoreKitStore: StoreClient {
    /// How long one finish may take, in milliseconds.
    private let finishLimit: Int64 = 5_000
    /// A list that yields nothing for so many milliseconds has ended without saying so.
    private let quietLimit: Int64 = 5_000

    /// Creates the store of this app.
    public init() {
      #if canImport(UIKit)
        Task { @MainActor in AppScenes.shared.watch() }
      #endif
    }

    /// Reads `Transaction.unfinished`, and nothing that may show the sign-in dialog of the store: the account's name is
    /// signed into each transaction. Transactions that StoreKit could not verify are included, with a flag.
    ///
    /// The sequence may yield its transactions and never end: what came counts.
    @concurrent public func unfinished() async throws -> StoreListing {
      var transactions: [StoreTransaction] = []
      var account: String?
      let (results, isComplete) = await EndlessSequence.elements(
        of: StoreKit.Transaction.unfinished, quietMilliseconds: quietLimit)
      for result in results {
        let values = StoreKitTransaction(result)
        transactions.append(StoreTransaction(values))
        account = account ?? values.storeAccount
      }
      // A cancelled reading is not worth taking.
      try Task.checkCancellation()
      return StoreListing(
        account: account, transactions: transactions.oldestFirst, isComplete: isComplete)
    }

    /// Reads the receipt's file.
    public func receipt() async throws -> [UInt8]? { try await AppReceiptFile.ofThisApp.read() }

    /// Fetches a new receipt with `AppStore.sync()`. **May ask for a password.** Only if there is no receipt after that, as
    /// can be the case in the sandbox, the deprecated `SKReceiptRefreshRequest` asks for one.
    public func refreshReceipt() async throws -> [UInt8]? {
      try await sync()
      if let receipt = try await receipt() { return receipt }
      try await ReceiptRefresh.run()
      return try await receipt()
    }

    /// Finishes transactions of one reading of `Transaction.unfinished`, the only source of the objects to finish. The
    /// reading is over before the first of them is finished.
    ///
    /// `Transaction.finish()` may never return. Each call has a time limit of its own, and its id then has no result.
    @concurrent public func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      var results: [String: FinishResult] = [:]
      var wanted = Set(transactionIDs)
      let (listed, isComplete) = await EndlessSequence.elements(
        of: StoreKit.Transaction.unfinished, quietMilliseconds: quietLimit)
      for result in listed where !Task.isCancelled {
        let transaction = result.signedValue
        let id = String(transaction.id)
        guard wanted.remove(id) != nil else { continue }
        let isDone = await TimeLimit.answer(withinMilliseconds: finishLimit) {
          await transaction.finish()
          return true
        }
        if isDone == true { results[id] = .finished }
      }
      // What was not reached is not known.
      guard isComplete, !Task.isCancelled else { return results }
      for id in wanted { results[id] = .notListed }
      return results
    }
  }

  extension VerificationResult {
    /// The value, verified or not.
    var signedValue: SignedType {
      switch self {
      case .verified(let value), .unverified(let value, _): value
      }
    }
  }

  extension StoreTransaction {
    /// StoreKit's transaction, with StoreKit's result of the signature check.
    init(_ result: VerificationResult<StoreKit.Transaction>) { self.init(StoreKitTransaction(result)) }
  }

  extension StoreKitTransaction {
    init(_ result: VerificationResult<StoreKit.Transaction>) {
      let isVerified =
        switch result {
        case .verified: true
        case .unverified: false
        }
      let transaction = result.signedValue
      self.init(
        jws: result.jwsRepresentation, isVerified: isVerified, id: transaction.id,
        originalID: transaction.originalID, productID: transaction.productID,
        quantity: transaction.purchasedQuantity, purchaseDate: transaction.purchaseDate,
        accountToken: transaction.appAccountToken, environment: transaction.environment.rawValue)
    }
  }
#endif
