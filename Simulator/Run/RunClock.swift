import Foundation
import PurchaseQueue
import PurchaseSQLite

/// Moves the clock of a run (``FastClock``), in the process that runs it.
///
/// The clock goes only while every app that is open rests: none of its threads runs or wants to, and no request of it is
/// without its answer. It stops at the end of each delay until the app has noticed. So a computer that is busy with other
/// things makes a run longer, and no purchase late. While no app is open it stands, and the next launch is a second later.
final class RunClock: Sendable {
  let file: ClockFile
  let rate: Int64
  private let goesByItself: Bool
  private let state = Locked(State())

  private struct State {
    var apps: [Int: ProcessRest] = [:]
    var next = 0
    var isGoing = false
  }

  /// - Parameters:
  ///   - path: Of its file, which is replaced.
  ///   - rate: How many of its seconds pass in one, at most.
  ///   - start: What it shows now.
  ///   - goesByItself: False in a test, which calls `pass(milliseconds:)`.
  init(
    at path: String, rate: Int64, from start: Timestamp = .wallClock(), goesByItself: Bool = true
  ) throws {
    self.goesByItself = goesByItself
    self.rate = max(1, rate)
    file = try ClockFile(creating: path)
    file[.time] = start.milliseconds
  }

  func now() -> Timestamp { Timestamp(milliseconds: file[.time]) }

  /// For a process that only reads it.
  var words: FastClock.Words { FastClock.Words(rate: rate, app: nil, path: file.path) }

  /// Before a process of the app begins: the clock stands until it rests.
  func join() -> FastClock.Words {
    let (app, begins) = state.withLock { state in
      if state.apps.isEmpty { file[.time] += 1_000 }
      defer { (state.next, state.isGoing) = (state.next + 1, true) }
      state.apps[state.next] = ProcessRest(process: nil)
      return (state.next, !state.isGoing)
    }
    file[.requests(app: app)] = 0
    file[.delay(app: app)] = .max
    if begins, goesByItself {
      let thread = Thread { [self] in go() }
      thread.stackSize = 1 << 18
      thread.start()
    }
    return FastClock.Words(rate: rate, app: app, path: file.path)
  }

  /// The process has begun. `number` is the system's.
  func began(_ words: FastClock.Words, as number: Int32) {
    state.withLock { state in
      // It may have ended by now.
      guard let app = words.app, state.apps[app] != nil else { return }
      state.apps[app] = ProcessRest(process: number)
    }
  }

  /// The process has ended.
  func left(_ words: FastClock.Words) {
    state.withLock { state in
      if let app = words.app { state.apps[app] = nil }
    }
  }

  private static let tick = 0.001

  private func go() {
    var last = ProcessInfo.processInfo.systemUptime
    while goesOn {
      Thread.sleep(forTimeInterval: Self.tick)
      let now = ProcessInfo.processInfo.systemUptime
      pass(milliseconds: Int64((now - last) * 1_000 * Double(rate)))
      last = now
    }
  }

  /// False when the last app has ended.
  private var goesOn: Bool {
    state.withLock { state in
      state.isGoing = !state.apps.isEmpty
      return state.isGoing
    }
  }

  /// Moves the clock by so much if all apps rested since the last call, and not past the end of a delay.
  func pass(milliseconds: Int64) {
    let rested = state.withLock { state in
      state.apps.keys.map { app in
        let isAsking = file[.requests(app: app)] > 0
        // Each is asked: all of them count from now on.
        let rested = state.apps[app]?.hasRested() ?? false
        return rested && !isAsking
      }
    }
    guard rested.allSatisfy(\.self) else { return }
    let time = file[.time]
    let apps = state.value.apps.keys
    let end = apps.map { file[.delay(app: $0)] }.min() ?? .max
    file[.time] = max(time, min(end, time + milliseconds))
  }
}
