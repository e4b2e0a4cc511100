/// The state of store and backend at one moment, for the checks of a test.
public struct MockSnapshot: Sendable, Hashable, Codable {
  /// Every charge, oldest first, with store account, account token, finished and refunded.
  public var charges: [StoreTransactionRecord]
  /// The backend's ledger, oldest first, with each credit's owner at the time of the grant.
  public var credits: [Credit]
  /// The present owners of the same credits, in the same order: an account may have adopted a device's credits.
  public var creditOwners: [Uploader]
  /// How many units of the same credits count now: without what was refunded of them.
  public var creditUnits: [Int]
  /// The paid transaction of each assigned seat, by the transaction of the seat.
  public var seats: [String: String]
  /// Every order with its account and state, oldest first.
  public var orders: [BackendOrder]
  /// The newest 20,000 verdicts or more, oldest first.
  public var verdicts: [RecordedVerdict]
  /// The credits that were taken back.
  public var reversals: [Reversal]
  /// The adoptions of devices by accounts.
  public var deviceAdoptions: [AdoptionRecord]
  /// Credits beyond one per transaction and beyond one per order; 0 in every correct run.
  public var doubledCredits: Int
  /// The backend's present ledger epoch.
  public var ledgerEpoch: String
  /// Well-formed requests so far, including those that a fault kept from the handler.
  public var requestCount = 0
  /// Their number by method and path, such as `POST /v1/receipts` or `GET /v1/orders/*`; unknown paths are `no route`.
  public var requests: [String: Int] = [:]
  /// How many uploads had a claim of each transaction, answered or not, by transaction id.
  public var uploads: [String: Int] = [:]
  /// How many times the person was asked for a password to refresh the app receipt.
  public var prompts: Int
  /// How many times an app receipt was read.
  public var receiptReadings: Int
}

extension MockSnapshot {
  /// The state of a store, and of a backend whose process has ended: reads the backend's file.
  package init(store: StoreModel, backendAt path: String) throws(MockServerError) {
    do throws(BackendStoreError) {
      let backend = try BackendStore(path: path, bundleID: store.forge.bundleID, seed: 0)
      self.init(store, try backend.model())
    } catch {
      throw MockServerError(error)
    }
  }

  init(_ state: MockState, backend: BackendModel) {
    self.init(state.store, backend)
    requestCount = state.requestCount
    requests = state.requests
    uploads = state.uploads
  }

  private init(_ store: StoreModel, _ backend: BackendModel) {
    self.init(
      charges: store.charges, credits: backend.credits,
      creditOwners: backend.credits.map(backend.owner(of:)),
      creditUnits: backend.credits.map(backend.units(of:)), seats: store.paidSeats, orders: backend.orders,
      verdicts: backend.verdicts, reversals: backend.reversals, deviceAdoptions: backend.deviceAdoptions,
      doubledCredits: backend.doubledCredits, ledgerEpoch: backend.ledgerEpoch, prompts: store.prompts,
      receiptReadings: store.receiptReadings)
  }
}
