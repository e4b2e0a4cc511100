import PurchaseSync
import VirtualTime

/// What the apps of an ``AppLab`` have done so far, in the lab's time.
public struct LabFigures: Sendable, Hashable {
  /// A purchase that was delivered: it is settled on the phone, and the app is given the outcome.
  public struct Delivery: Sendable, Hashable {
    /// The name of the phone.
    public var phone: String
    /// The store's number of the transaction.
    public var transactionID: String
    /// How long it took from the moment at which nothing stood in its way any more. Zero if something did until the end.
    public var after: Duration
  }

  /// In the order in which they were delivered.
  public var deliveries: [Delivery] = []
  /// The most uploads of one phone in any minute.
  public var uploadsPerMinute = 0
  /// The most requests to the backend, uploads included.
  public var requestsPerMinute = 0
  /// The most calls of the store, without payment sheets and restores.
  public var storeCallsPerMinute = 0
  /// The most calls of `fulfil` with an outcome that this launch of the app was given before.
  public var repeatedFulfilmentsPerMinute = 0
  /// The most questions for credentials.
  public var credentialsPerMinute = 0

  init(_ judges: [PhoneJudge]) {
    deliveries = judges.flatMap(\.deliveries)
    func most(_ kind: PaceLimits.Kind) -> Int { judges.map { $0.most(of: kind) }.max() ?? 0 }
    uploadsPerMinute = most(.upload)
    requestsPerMinute = most(.request)
    storeCallsPerMinute = most(.store)
    repeatedFulfilmentsPerMinute = most(.fulfil)
    credentialsPerMinute = most(.credentials)
  }
}
