public import Foundation
public import PurchaseQueue

/// The settings of an engine.
public struct SyncConfiguration: Sendable {
  /// The path of the queue's file. The file is created if there is none.
  public var path: String
  /// Keeps copies that outlive an uninstall. Nil relies on the store's redelivery.
  public var vault: (any QueueVault)?
  /// How much the queue holds.
  public var limits: QueueLimits
  /// When failed uploads are tried again.
  public var retry: RetryPolicy
  /// The app's version: after an update the quarantine is tried again at once. The version and build of the main bundle
  /// unless it is given.
  public var appVersion: String
  /// Returns the account of the person who uses the app now; nil if no account is signed in. The backend then says which
  /// purchases of the device lane are this account's own; it credits nothing to it. Called on the
  /// engine's thread: return quickly.
  public var currentAccount: (@Sendable () -> String?)?
  /// Returns the account of an account token that no order here has; nil if the app knows none. For an app that gave the
  /// store tokens before it made orders, or whose backend has one token for each account. Asked before `unclaimed`, when
  /// the purchase is durable and before it is sent, at most for `credentialTimeLimit`. If it throws or takes longer, the
  /// purchase waits, and the app is asked again. Called on any thread.
  public var accountForToken: (@Sendable (_ token: UUID) async throws -> String?)?
  /// For whom purchases are that name no owner: the device.
  public var unclaimed = UnclaimedPolicy.device
  /// How long a call of the store may take: 60 s. Then it counts as failed.
  public var storeTimeLimit: Duration = .seconds(60)
  /// How long the app may take for an account's credentials: 60 s. Then the lane tries again later.
  public var credentialTimeLimit: Duration = .seconds(60)
  /// How long a call of a shop's `fulfil` may take before other outcomes go on without it: 10 s. It is not cancelled.
  public var fulfilmentTimeLimit: Duration = .seconds(10)
  /// How long a function of a ``PurchaseBackend`` may take: 30 s. A purchase whose `verify` takes longer counts as pending,
  /// and the others of the upload go on.
  public var backendTimeLimit: Duration = .seconds(30)
  /// How long a request may take in all, whatever the transport does: 5 minutes. The transport's own limit should be
  /// shorter.
  public var requestTimeLimit: Duration = .seconds(300)
  /// Where orders are made: at the backend.
  public var orderPolicy = OrderPolicy.backendOnly
  /// The wall clock. Tests replace it.
  public var now: @Sendable () -> Timestamp
  /// Gets a line for every event, without secrets; nil logs nothing. Called on the engine's thread: return quickly.
  public var log: (@Sendable (SyncLogRecord) -> Void)?
  /// Called for each failure that no caller waits for, such as a vault that does not answer; nil ignores them. Called
  /// on the engine's thread: return quickly.
  public var diagnostics: (@Sendable (Diagnostic) -> Void)?
  /// Gets each measurement; nil measures nothing. Called on any thread, also while the engine waits for it: return
  /// quickly, and do not call the engine.
  public var metrics: (@Sendable (SyncMeasurement) -> Void)?
  /// Called when an interval of work begins, on any thread; nil for none.
  public var intervals: SyncIntervals?
  /// Verifies each successful answer of the backend; nil believes what TLS protects. Not used with a ``PurchaseBackend``,
  /// which reads its answers itself.
  public var verifier: (any ReplyVerifier)?
  /// Called at each checkpoint. Nil outside of tests and the simulator.
  package var checkpoint: (@Sendable (Checkpoint) -> Void)?
  /// What the system knows of the files: data protection and backups. Tests replace it.
  package var marks = FileMarks.system
  /// Thread, clock, sleep and random numbers: the system's own outside of the simulator.
  package var system = SystemDependencies.live

  /// Settings with the documented defaults. Without a path, the file is in the user's application support folder.
  public init(
    path: String? = nil, vault: (any QueueVault)? = nil, limits: QueueLimits = QueueLimits(),
    retry: RetryPolicy = RetryPolicy(), appVersion: String? = nil,
    now: @escaping @Sendable () -> Timestamp = Timestamp.wallClock
  ) {
    self.path = path ?? Self.standardPath
    self.vault = vault
    self.limits = limits
    self.retry = retry
    self.appVersion = appVersion ?? Self.bundleVersion
    self.now = now
  }

  /// The default file; on Apple's systems, with the keychain as its vault.
  public static var standard: SyncConfiguration {
    #if canImport(Security)
      let app = Bundle.main.bundleIdentifier ?? "purchase-sync"
      return SyncConfiguration(vault: KeychainVault(service: app + ".purchases"))
    #else
      return SyncConfiguration()
    #endif
  }

  /// `PurchaseSync/purchases.sqlite` in the application support folder, which the system does not purge.
  private static var standardPath: String {
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    return (folders.first?.path ?? NSHomeDirectory()) + "/PurchaseSync/purchases.sqlite"
  }

  /// Makes the folder of the file. A new folder passes its data protection on to each file that is made in it. Other
  /// folders are the app's own, and stay as they are.
  func makeFolder() throws(SyncError) {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let isNew = !FileManager.default.fileExists(atPath: folder)
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      throw .queue(
        .cannotOpen(path: path, reason: "its folder cannot be made: \(error.localizedDescription)"))
    }
    if isNew { for failure in marks.markFolder(folder) { diagnostics?(failure) } }
  }

  /// `CFBundleShortVersionString` and `CFBundleVersion` of the main bundle; empty for a tool without a bundle.
  private static var bundleVersion: String {
    let info = Bundle.main.infoDictionary ?? [:]
    return ["CFBundleShortVersionString", "CFBundleVersion"].compactMap { info[$0] as? String }
      .joined(separator: " ")
  }
}
