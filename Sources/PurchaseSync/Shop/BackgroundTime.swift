import Dispatch
import PurchaseSQLite

#if canImport(StoreKit) && !os(macOS)
  import Foundation
#endif

/// Asks the system for time while the app goes to the background, so that requests in flight get their answers and the
/// file is closed before the process is suspended.
struct BackgroundTime: Sendable {
  /// Calls the block on a thread of its own with false, and lets the process run until that call returns. When the time
  /// is over, it calls the block again with true, at the same time as the first call; the process may be suspended when
  /// that call returns. If there is no time at all, it calls the block with true only.
  typealias Activity =
    @Sendable (_ reason: String, _ block: @escaping @Sendable (_ isOver: Bool) -> Void) -> Void

  private let activity: Activity?
  private let patience: DispatchTimeInterval

  /// - Parameters:
  ///   - activity: The system's, unless a test replaces it; nil where the system suspends no process.
  ///   - patience: How long the system is kept waiting for the end of the work when the time is over. It ends a process
  ///     that does not let itself be suspended.
  init(_ activity: Activity? = Self.system, patience: DispatchTimeInterval = .seconds(2)) {
    self.activity = activity
    self.patience = patience
  }

  #if canImport(StoreKit) && !os(macOS)
    /// Works in apps and in their extensions, without UIKit.
    static let system: Activity? = { reason, block in
      ProcessInfo.processInfo.performExpiringActivity(withReason: reason, using: block)
    }
  #else
    static let system: Activity? = nil
  #endif

  /// Does the work at once, and returns when it has ended. Until then the process is not suspended, as long as the system
  /// allows: some seconds, it does not say how many.
  ///
  /// - Parameters:
  ///   - reason: For the system's logs. Not empty, and without a name of a person.
  ///   - work: What is to be ended.
  ///   - cutShort: The time is over: makes `work` end soon. Called at most once, and not after the work has ended; but
  ///     the app may come to the foreground at any time, so look whether it is still in the background.
  func run(
    _ reason: String, _ work: () async -> Void, cutShort: @escaping @Sendable () async -> Void
  ) async {
    guard let activity else { return await work() }
    let patience = self.patience
    let isUnderWay = Locked(true)
    // Its waits block threads of the system's queue, and none on which tasks run.
    let end = DispatchGroup()
    end.enter()
    activity(reason) { isOver in
      guard isOver else { return end.wait() }
      Task {
        if isUnderWay.value { await cutShort() }
      }
      _ = end.wait(timeout: .now() + patience)
    }
    await work()
    isUnderWay.withLock { $0 = false }
    end.leave()
  }
}
