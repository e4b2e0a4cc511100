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
  /// The app's version: after an update the quarantine is tried again at once.
  public var appVersion: String
  /// How long a call of the store may take, in milliseconds; then it counts as failed. 60 s.
  public var storeMilliseconds: Int64 = 60_000
  /// How long the app may take for an account's credentials, in milliseconds; then the lane tries again later. 60 s.
  public var credentialMilliseconds: Int64 = 60_000
  /// How long a request may take in all, in milliseconds, whatever the transport does; its own limit should be
  /// shorter. 5 minutes.
  public var requestMilliseconds: Int64 = 300_000
  /// The wall clock. Tests bring their own.
  public var now: @Sendable () -> Timestamp
  /// Told of every event, in words without secrets; nil keeps quiet. Called on the engine's thread: be quick.
  public var log: (@Sendable (SyncLogRecord) -> Void)?
  /// Told at each boundary between two durable steps, with its name. Nil outside of tests and the simulator.
  package var hook: (@Sendable (String) -> Void)?
  /// Thread, clock, sleep and chance: the system's own outside of the simulator.
  package var surroundings = Surroundings.system

  /// A set-up; what is not said has the documented defaults.
  public init(
    path: String, vault: (any ReceiptVault)? = nil, limits: QueueLimits = QueueLimits(),
    retry: RetryPolicy = RetryPolicy(), appVersion: String = "",
    now: @escaping @Sendable () -> Timestamp = Timestamp.wallClock
  ) {
    self.path = path
    self.vault = vault
    self.limits = limits
    self.retry = retry
    self.appVersion = appVersion
    self.now = now
  }
}

/// The `Authorization` token of an account, asked for at each request. Nil: nobody is signed in to it.
public typealias CredentialSource = @Sendable (_ account: String) async -> String?
