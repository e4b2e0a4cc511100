#if canImport(StoreKit)
  import StoreKit

  /// The App Store of the device, by StoreKit 2 and the app receipt file.
  ///
  /// It holds nothing: make as many as you like. It never prompts, except in `refreshReceipt` and `purchase`, and never
  /// waits on the main thread.
  public struct StoreKitStore: AppStore {
    /// How long a listing waits for the store account's name, milliseconds.
    private let accountLimit: Int64

    /// The store of this app.
    ///
    /// - Parameter accountLimit: How long a listing waits to learn which store account is signed in, milliseconds. The
    ///   system may ask the network for it, and no purchase waits for that.
    public init(accountLimit: Int64 = 5_000) { self.accountLimit = accountLimit }

    /// Reads `Transaction.unfinished`; those that StoreKit could not verify as well, flagged.
    @concurrent public func unfinished() async throws -> StoreListing {
      var transactions: [StoreTransaction] = []
      for await result in StoreKit.Transaction.unfinished {
        transactions.append(StoreTransaction(result))
      }
      // A cancelled sequence ends early: half of a list must not pass for the whole.
      try Task.checkCancellation()
      let account = await TimeLimit.answer(withinMilliseconds: accountLimit) { await Self.account() }
      return StoreListing(account: account, transactions: transactions.oldestFirst)
    }

    /// Reads the receipt's file.
    public func receipt() async throws -> [UInt8]? { try await AppReceiptFile.ofThisApp.read() }

    /// Fetches a new receipt; **asks for a password**.
    public func refreshReceipt() async throws -> [UInt8]? {
      try await ReceiptRefresh.run()
      return try await receipt()
    }

    /// Finishes it by `Transaction.unfinished`, which is where StoreKit hands out the object to do it with.
    @concurrent public func finish(transactionID: String) async throws -> FinishResult {
      for await result in StoreKit.Transaction.unfinished {
        let transaction = result.signedValue
        guard String(transaction.id) == transactionID else { continue }
        await transaction.finish()
        return .finished
      }
      try Task.checkCancellation()
      return .notListed
    }

    /// Stays the same for an Apple Account and this app. Nil without one, without an answer, or if the device doesn't
    /// trust the answer: a wrong name would let another account's *finish owed* rest.
    private static func account() async -> String? {
      do {
        guard case .verified(let app) = try await AppTransaction.shared else { return nil }
        return app.appTransactionID
      } catch {
        return nil
      }
    }
  }

  extension VerificationResult {
    /// The value, trusted or not.
    var signedValue: SignedType {
      switch self {
      case .verified(let value), .unverified(let value, _): value
      }
    }
  }

  extension StoreTransaction {
    /// What StoreKit handed over, with its own word on the signature.
    init(_ result: VerificationResult<StoreKit.Transaction>) {
      let isVerified =
        switch result {
        case .verified: true
        case .unverified: false
        }
      let transaction = result.signedValue
      self.init(
        StoreKitTransaction(
          jws: result.jwsRepresentation, isVerified: isVerified, id: transaction.id,
          originalID: transaction.originalID, productID: transaction.productID,
          quantity: transaction.purchasedQuantity, purchaseDate: transaction.purchaseDate,
          accountToken: transaction.appAccountToken, environment: transaction.environment.rawValue))
    }
  }
#endif
