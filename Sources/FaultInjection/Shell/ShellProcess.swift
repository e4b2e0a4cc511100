import Foundation
import PurchaseQueue
import PurchaseSync

/// One process with an engine: the app, or its extension on the same file.
final class ShellProcess: @unchecked Sendable {
  /// Names it in the story; what it starts is the queue's work of that owner.
  let number: Int
  let name: String
  let directory: String
  var engine: SyncEngine?
  /// The engine, if something still keeps it.
  weak var remains: SyncEngine?
  /// It was not killed: calls from it are answered.
  var isAlive = true
  /// The app has asked for the end; the end has come.
  var isEnding = false
  var hasEnded = false
  /// Calls of `park` that have not returned.
  var parking = 0
  /// `park` has returned, and no foreground came since.
  var isParked = false
  /// What is out is left alone until then, after the latest call of `park`; nil if that is not known.
  var leftAloneUntil: Int64?
  var foregrounds = 0
  var foregroundsAtPark = 0
  var listings = 0
  var isOpening = true
  var streamsOpened = 0
  var streamsEnded = 0
  /// Answers that asked to be left alone, by their tag: until when. Those that the engine has taken in count.
  var asked: [Int: Int64] = [:]
  var floor: Int64 = 0
  /// Calls of `begin`, by their number.
  var begins: [Int: Task<Void, Never>] = [:]
  var begun = 0
  /// Timers that were set; of the planted bug that loses some.
  var timersSet = 0
  /// The first answer to an upload; of the planted cache.
  var cached: BackendResponse?

  init(number: Int, name: String, directory: String) {
    self.number = number
    self.name = name
    self.directory = directory
  }

  var path: String { directory + "/q" }
  var isRunning: Bool { isAlive && !isEnding && engine != nil }
}

/// The process is gone, and its calls with it.
struct Gone: Error {}
