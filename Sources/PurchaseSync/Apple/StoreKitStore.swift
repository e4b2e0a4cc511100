#if canImport(StoreKit)
  import StoreKit

  /// The device's App Store, through StoreKit 2 and the app receipt file.
  ///
  /// It has no state: create as many as you like. It never prompts, except in `refreshReceipt`, `sync` and
  /// `purchase`, and never blocks the main thread.
  public struct StoreKitStore: StoreClient {
    /// How long one finish may take, in milliseconds.
    private let finishLimit: Int64 = 5_000

    /// Creates the store of this app.
    public init() {}

    /// Reads `Transaction.unfinished`, and nothing that may show the sign-in dialog of the store: the account's name is
    /// signed into each transaction. Transactions that StoreKit could not verify are included, with a flag.
    @concurrent public func unfinished() async throws -> StoreListing {
      var transactions: [StoreTransaction] = []
      var account: String?
      for await result in StoreKit.Transaction.unfinished {
        let values = StoreKitTransaction(result)
        transactions.append(StoreTransaction(values))
        account = account ?? values.storeAccount
      }
      // A cancelled sequence ends early. A partial list must not be taken for a complete one.
      try Task.checkCancellation()
      return StoreListing(account: account, transactions: transactions.oldestFirst)
    }

    /// Reads the receipt's file.
    public func receipt() async throws -> [UInt8]? { try await AppReceiptFile.ofThisApp.read() }

    /// Fetches a new receipt. **May ask for a password.**
    public func refreshReceipt() async throws -> [UInt8]? {
      try await ReceiptRefresh.run()
      return try await receipt()
    }

    /// Finishes transactions through one reading of `Transaction.unfinished`, the only source of the objects to finish.
    ///
    /// `Transaction.finish()` may never return. Each call has a time limit of its own, and its id then has no result.
    @concurrent public func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      var results: [String: FinishResult] = [:]
      var wanted = Set(transactionIDs)
      for await result in StoreKit.Transaction.unfinished {
        let transaction = result.signedValue
        let id = String(transaction.id)
        guard wanted.contains(id) else { continue }
        wanted.remove(id)
        let isDone = await TimeLimit.answer(withinMilliseconds: finishLimit) {
          await transaction.finish()
          return true
        }
        if isDone == true { results[id] = .finished }
        if wanted.isEmpty { return results }
      }
      // A cancelled sequence ends early: what was not reached is not known.
      guard !Task.isCancelled else { return results }
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
