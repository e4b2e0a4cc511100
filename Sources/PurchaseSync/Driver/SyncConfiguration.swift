public import PurchaseQueue

/// How an engine is set up.
public struct SyncConfiguration: Sendable {
  /// Where the queue's file is, or will be made.
  public var path: String
  /// What outlives an uninstall; nil leaves it to the store's redelivery.
  public var vault: (any ReceiptVault)?
  /// How much the queue holds.
  public var limits: QueueLimits
  /// When failed uploads are tried again.
  public var retry: RetryPolicy
  /// The wall clock. Tests bring their own.
  public var now: @Sendable () -> Timestamp
  /// Told at each boundary between two durable steps, with its name. Nil outside of tests and the simulator.
  package var hook: (@Sendable (String) -> Void)?

  /// A set-up; what is not said has the documented defaults.
  public init(
    path: String, vault: (any ReceiptVault)? = nil, limits: QueueLimits = QueueLimits(),
    retry: RetryPolicy = RetryPolicy(), now: @escaping @Sendable () -> Timestamp = Timestamp.wallClock
  ) {
    self.path = path
    self.vault = vault
    self.limits = limits
    self.retry = retry
    self.now = now
  }
}

/// The `Authorization` token of an account, asked for at each request. Nil: nobody is signed in to it.
public typealias CredentialSource = @Sendable (_ account: String) async -> String?

/// How much is still to be done.
public struct SyncSnapshot: Sendable, Hashable {
  /// Transactions that the backend has not acknowledged, quarantined ones included.
  public var unsettled: Int
  /// Of these, the quarantined.
  public var quarantined: Int
  /// Acknowledged transactions that the store has not been told of.
  public var finishesOwed: Int
  /// Outcomes that the app has not confirmed.
  public var unseen: Int

  /// Counts, for an app's own previews and tests.
  public init(unsettled: Int = 0, quarantined: Int = 0, finishesOwed: Int = 0, unseen: Int = 0) {
    self.unsettled = unsettled
    self.quarantined = quarantined
    self.finishesOwed = finishesOwed
    self.unseen = unseen
  }
}
