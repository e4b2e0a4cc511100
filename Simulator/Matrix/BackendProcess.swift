import CommandLineTools
import Foundation
import ProcessFaults
import PurchaseSQLite

/// The backend of one cell: a child process that is started again, at the same port and with the same file, when it was
/// killed.
final class BackendProcess: Sendable {
  private let arguments: [String]
  private let isQuiet: Bool
  private let log: RunLog?
  private let trace: StepTrace?
  private let state: Locked<State>
  let url: URL

  private struct State {
    var child: ChildProcess?
    var isEnding = false
    var wasKilled = false
    var failure: ChildError?
  }

  init(
    database: String, store: URL, clock: FastClock.Words, crash: Checkpoints.Moment? = nil,
    counts: String? = nil,
    isQuiet: Bool,
    log: RunLog? = nil, trace: StepTrace? = nil
  ) throws {
    (self.log, self.trace) = (log, trace)
    arguments =
      ["backend", "--database", database, "--store", store.absoluteString, "--clock", clock.text]
      + (trace.map { ["--specification", $0.path] } ?? [])
    self.isQuiet = isQuiet
    var extra = KillPlan(crash: crash).arguments
    if let counts { extra += ["--counts", counts] }
    let (first, url) = try Self.start(arguments + extra, isQuiet: isQuiet)
    self.url = url
    state = Locked(State(child: first))
    watch(first)
  }

  /// Whether it was killed at its own checkpoint.
  var wasKilled: Bool { state.value.wasKilled }

  /// Ends it; it may write down its counts before.
  func end() throws {
    let last = state.withLock {
      $0.isEnding = true
      return $0.child
    }
    last?.release()
    _ = last?.wait(isPatient: true)
    if let failure = state.value.failure { throw failure }
  }

  private static func start(_ arguments: [String], isQuiet: Bool) throws -> (ChildProcess, URL) {
    let first = FirstLine()
    let child = try ChildProcess(arguments, isQuiet: isQuiet) { first.read($0) }
    guard let line = first.wait(), let url = URL(string: line) else {
      child.kill()
      throw ChildError(description: "the backend's process did not start")
    }
    return (child, url)
  }

  /// Starts it again as soon as it was killed, as a backend's operator does.
  private func watch(_ watched: ChildProcess) {
    let thread = Thread { [self] in
      guard watched.wait(isPatient: true) == .killed else { return }
      state.withLock { state in
        guard !state.isEnding, !Interruption.shared.isAsked else { return }
        state.wasKilled = true
        log?.note(.backend, .kill, "killed")
        trace?.note(.killed(watched.number))
        do {
          let (next, _) = try Self.start(arguments + ["--port", "\(url.port ?? 0)"], isQuiet: isQuiet)
          state.child = next
          log?.note(.backend, .launch, "started again")
          watch(next)
        } catch {
          state.child = nil
          state.failure = ChildError(description: "the backend could not be started again: \(error)")
        }
      }
    }
    thread.stackSize = 1 << 18
    thread.start()
  }
}

/// The first line of a child's output.
private final class FirstLine: Sendable {
  /// Long, since the child may share its processor with many others.
  private static let patience = 180

  private let line = Locked<String?>(nil)
  private let arrival = DispatchSemaphore(value: 0)

  func read(_ text: String) {
    line.withLock {
      guard $0 == nil else { return }
      $0 = text
      arrival.signal()
    }
  }

  /// Nil if it does not come.
  func wait() -> String? {
    guard arrival.wait(timeout: .now() + .seconds(Self.patience)) == .success else { return nil }
    return line.value
  }
}
