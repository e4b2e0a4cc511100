public import Foundation
import VirtualTime

/// Why a test in a lab can never end, or what its app has broken.
@nonexhaustive
public enum AppLabError: Error, Sendable, Hashable {
  /// The test waits, and nothing is left that could end its wait.
  case nothingLeft
  /// The test waits still after the longest virtual time.
  case timeIsOver
  /// A task asks again and again, and never waits.
  case spinning
  /// A task has held the lab for a minute of the system's time: it waits for a lock.
  case blocked
  /// This Swift runtime has no hook for its jobs.
  case unsupported
  /// Nothing stood in the way of a purchase, and it was not delivered in time: within a minute of a wake, or within
  /// `RetryPolicy.deliveryBound` without one.
  case late(phone: String, transactionID: String, after: Duration, isWoken: Bool)
  /// The app, or the engine in it, makes calls of a kind without a pace, such as uploads or calls of `fulfil`.
  case unpaced(phone: String, calls: String, perMinute: Int)

  init?(_ error: any Error) {
    switch error {
    case let stuck as VirtualQueue.Stuck:
      self =
        switch stuck.standstill {
        case .nothingLeft: .nothingLeft
        case .timeIsOver: .timeIsOver
        case .spinning: .spinning
        case .blocked: .blocked
        }
    case is VirtualQueue.NoHook: self = .unsupported
    default: return nil
    }
  }
}

extension AppLabError: CustomStringConvertible, LocalizedError {
  /// What happened, and what to do.
  public var description: String {
    switch self {
    case .nothingLeft:
      "the test waits for something that no task and no timer of the lab can bring. If it waits for other threads or "
        + "the main actor, use AppLab.outside"
    case .timeIsOver:
      "the test still waits after the longest virtual time. If it waits for other threads, use AppLab.outside"
    case .spinning: "a task asks again and again without waiting: use AppLab.until"
    case .blocked:
      "a task of the lab has not returned for a minute. In withStore, use only the store that it passes: every other call "
        + "of the server or the lab waits for it"
    case .late(let phone, let transactionID, let after, let isWoken):
      "\(phone): nothing stands in the way of transaction \(transactionID) since \(after)"
        + (isWoken ? ", the app was woken," : "") + " and it is not delivered"
    case .unpaced(let phone, let calls, let perMinute):
      "\(phone): \(perMinute) \(calls) in a minute. Does a callback of the app call the shop each time?"
    case .unsupported: "this Swift runtime has no hook for its jobs, so time cannot be virtual"
    }
  }

  /// The description.
  public var errorDescription: String? { description }
}
