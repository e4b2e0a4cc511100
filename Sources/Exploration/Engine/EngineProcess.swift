import Foundation
import PurchaseQueue
import PurchaseSync
import VirtualTime

/// One process with an engine: the app, or its extension on the same file.
final class EngineProcess: @unchecked Sendable {
  /// Identifies it in the trace, and as an owner of the queue's work.
  let number: Int
  let name: String
  let directory: String
  /// Another phone; nil for the first one.
  var phone: EnginePhone?
  var engine: SyncEngine?
  /// The engine, while something still retains it.
  weak var remains: SyncEngine?
  /// It was not killed: its calls get answers.
  var isAlive = true
  /// The app has begun, or completed, the shutdown.
  var isEnding = false
  /// When it was killed or its shutdown was complete; nil before that.
  var endedAt: Int64?
  var hasEnded: Bool { endedAt != nil }
  /// Calls of `suspend` that have not returned.
  var suspending = 0
  /// `suspend` has returned, and no foreground came since.
  var isSuspended = false
  /// The latest call of `suspend` leaves uploads alone until this moment; nil if unknown.
  var leftAloneUntil: Int64?
  var foregrounds = 0
  var foregroundsAtSuspension = 0
  var listings = 0
  var isOpening = true
  var streamsOpened = 0
  var streamsEnded = 0
  /// The Retry-After of replies, by their tag. They count once the engine has logged them.
  var asked: [Int: Int64] = [:]
  var floor: Int64 = 0
  /// The same with the longest jitter.
  var latestFloor: Int64 = 0
  /// How often its engine did something in a minute.
  var meter = PaceMeter<PaceLimits.Kind>()
  /// Calls of `begin`, by their number.
  var begins: [Int: Task<Void, Never>] = [:]
  var begun = 0
  /// Timers that were set, for the planted bug that loses some.
  var timersSet = 0
  /// Whether its app confirms outcomes.
  var confirms = true
  /// The first Idempotency-Key, for the planted bug that repeats it.
  var firstKey: String?
  /// The first reply to an upload, for the planted cache.
  var cached: BackendResponse?

  init(number: Int, name: String, directory: String) {
    self.number = number
    self.name = name
    self.directory = directory
  }

  /// The number of its phone: the first one is 0.
  var device: Int { phone?.number ?? 0 }
  var path: String { directory + "/q" }
  var isRunning: Bool { isAlive && !isEnding && engine != nil }
}

/// The process has died, and its calls fail.
struct Gone: Error {}
