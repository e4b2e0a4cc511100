/// Everything that an oracle counts, taken at one moment.
public struct WorldSnapshot: Sendable, Hashable, Codable {
  /// What people paid: every charge, oldest first, with store account, account token, finished and refunded.
  public var charges: [StoreTransactionRecord]
  /// The backend's ledger, oldest first, with each credit's owner at the time of the grant.
  public var credits: [Credit]
  /// The same credits' owners now, in the same order: a device's may have been claimed for an account.
  public var creditOwners: [Uploader]
  /// Every order with its account and state, oldest first.
  public var orders: [BackendOrder]
  /// Every verdict given, oldest first, `refunded` and `lapsed` too.
  public var verdicts: [RecordedVerdict]
  /// What was taken back.
  public var reversals: [Reversal]
  /// Which devices' grants moved to which accounts.
  public var deviceClaims: [DeviceClaim]
  /// Credits beyond one per transaction and beyond one per order; 0 in every correct run.
  public var doubledCredits: Int
  /// The backend's present ledger epoch.
  public var ledgerEpoch: String
  /// Well-formed requests so far, those that a fault swallowed included.
  public var requestCount: Int
  /// The same by method and path, such as `POST /v1/receipts` or `GET /v1/orders/*`; the rest under `no route`.
  public var requests: [String: Int]
  /// How often each transaction was claimed in an upload, answered or not, by transaction id.
  public var uploads: [String: Int]
  /// How often a person was asked for a password to refresh the app receipt.
  public var prompts: Int
  /// How often an app receipt was read.
  public var receiptReadings: Int
}

extension WorldSnapshot {
  /// Of a store, and of a backend whose process is gone: its file is read.
  public init(store: StoreModel, backendAt path: String) throws(WorldServerError) {
    let backend: BackendModel
    do throws(BackendStoreError) {
      backend = try BackendStore(path: path, bundleID: store.forge.bundleID, seed: 0).model()
    } catch {
      throw WorldServerError(error)
    }
    self.init(
      charges: store.charges, credits: backend.credits,
      creditOwners: backend.credits.map(backend.owner(of:)), orders: backend.orders,
      verdicts: backend.verdicts, reversals: backend.reversals, deviceClaims: backend.deviceClaims,
      doubledCredits: backend.doubledCredits, ledgerEpoch: backend.ledgerEpoch, requestCount: 0,
      requests: [:], uploads: [:], prompts: store.prompts, receiptReadings: store.receiptReadings)
  }

  init(_ state: WorldState, backend: BackendModel) {
    self.init(
      charges: state.store.charges, credits: backend.credits,
      creditOwners: backend.credits.map(backend.owner(of:)), orders: backend.orders,
      verdicts: backend.verdicts, reversals: backend.reversals, deviceClaims: backend.deviceClaims,
      doubledCredits: backend.doubledCredits, ledgerEpoch: backend.ledgerEpoch,
      requestCount: state.requestCount, requests: state.requests, uploads: state.uploads,
      prompts: state.store.prompts, receiptReadings: state.store.receiptReadings)
  }
}
